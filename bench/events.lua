-- The load of wrk: one request after the other on each connection. Arguments after `--`:
--   key, identifiers (a number of clicks, or "new" for one per event), with ids (yes | no), name of the run,
--   events per batch (0: single events), format of the batch (json | ndjson)
local thread_count = 0

function setup(thread)
  thread_count = thread_count + 1
  thread:set("thread_number", thread_count)
end

local identifiers, event_ids, run, batch, format
local counter = 0

function init(args)
  math.randomseed(os.time() * 1000 + thread_number)
  identifiers = args[2] ~= "new" and tonumber(args[2]) or nil
  event_ids = args[3] == "yes"
  run = args[4]
  batch = tonumber(args[5])
  format = args[6]
  wrk.method = "POST"
  wrk.headers["Content-Type"] = format == "ndjson" and "application/x-ndjson" or "application/json"
  wrk.headers["Authorization"] = "ApiKey " .. args[1]
end

local function uuid()
  local r = math.random
  return string.format("%08x-%04x-4%03x-%04x-%06x%06x", r(0, 0xffffffff), r(0, 0xffff), r(0, 0xfff), r(0x8000, 0xbfff), r(0, 0xffffff), r(0, 0xffffff))
end

local function event()
  counter = counter + 1
  local number = counter
  if identifiers then
    number = (run == "warm up" and counter or math.random(0, identifiers - 1)) % identifiers
  end
  local id = event_ids and (',"event_id":"' .. uuid() .. '"') or ''
  return '{"event_name":"trial_converted","click_id":"' .. (identifiers and "click" or run) .. '-' .. number .. '"' .. id
    .. ',"value":49.9,"currency":"USD","timestamp":"' .. os.date("!%Y-%m-%dT%H:%M:%SZ")
    .. '","properties":{"plan":"yearly","seats":3,"trial":true,"run":"' .. run .. '"}}'
end

function request()
  if batch == 0 then return wrk.format(nil, nil, nil, event()) end
  local events = {}
  for index = 1, batch do events[index] = event() end
  if format == "ndjson" then return wrk.format(nil, nil, nil, table.concat(events, "\n")) end
  return wrk.format(nil, nil, nil, '{"events":[' .. table.concat(events, ",") .. "]}")
end

function done(summary, latency, requests)
  io.write(string.format(
    '{"requests":%d,"durationUs":%d,"rejected":%d,"broken":%d,"p50Us":%d,"p95Us":%d,"p99Us":%d}\n',
    summary.requests, summary.duration, summary.errors.status,
    summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout,
    latency:percentile(50), latency:percentile(95), latency:percentile(99)))
end
