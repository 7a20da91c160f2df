"""A client of the Tributary API in one file, for Python 3.10 or later without other packages.

    export TRIBUTARY_URL=https://api.example.com TRIBUTARY_KEY=trb_live_…
    python3 tributary.py rows /conversions from=2026-11-01 status=approved
    python3 tributary.py rows /reports group_by=campaign,country days=30
    python3 tributary.py export /clicks clicks.parquet from=2026-11-01
    python3 tributary.py send events.ndjson

In a program:

    from tributary import Tributary
    api = Tributary('https://api.example.com', 'trb_live_…')
    for row in api.rows('/clicks', {'from': '2026-11-01', 'country': ['DE', 'AT']}):
        print(row['clickedAt'], row['campaignName'])
    print(api.get('/reports', {'group_by': 'offer', 'range': 'last_month', 'filters': [['<', 'profit', 0]]})['data'])
"""

import http.client
import json
import os
import random
import re
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid

# The server is busy or unavailable: the request was not executed, or can be executed again.
TRANSIENT_STATUSES = {429, 502, 503, 504}
NETWORK_ERRORS = (urllib.error.URLError, http.client.HTTPException, ConnectionError, TimeoutError)
BATCH_EVENTS_MAX = 1000
# A full page of the longest rows is smaller.
BODY_BYTES_MAX = 64 * 1024 * 1024
# Below the limit of the server, 4 MiB.
BATCH_BYTES_MAX = 4_000_000


class TributaryError(Exception):
    """An error response: `status`, the stable `code`, and `param`, the parameter or field at fault, or None."""

    def __init__(self, status, body):
        super().__init__(body.get('message') or f'The server responded with status {status}.')
        self.status = status
        self.code = body.get('error')
        self.param = body.get('param')
        self.request_id = body.get('requestId')


class Tributary:
    """A client for one key. It retries every request after 429, 502, 503, 504 and network errors."""

    def __init__(self, base_url, api_key, retries=5, wait_max=60, timeout=60):
        """
        :param retries: maximum number of retries of a request
        :param wait_max: seconds; a response whose Retry-After is longer is an error at once
        :param timeout: seconds without data, after which a connection counts as broken
        """
        self._base_url = base_url.rstrip('/') + '/api/v1'
        self._headers = {'Authorization': f'ApiKey {_checked_key(api_key)}'}
        self._retries = retries
        self._wait_max = wait_max
        self._timeout = timeout
        self._opener = urllib.request.build_opener(_NoRedirects)

    def get(self, path, query=None):
        """Sends one GET request, such as `get('/stats/overview', {'days': 7})`. Returns the decoded JSON."""
        return self._request(path, query, _read_json)

    def pages(self, path, query=None):
        """Yields all pages of a list or of a report."""
        query = dict(query or {})
        while True:
            page = self.get(path, query)
            yield page
            if page.get('nextCursor') is not None:
                query['cursor'] = page['nextCursor']
            elif page.get('next') is not None:
                query = dict(urllib.parse.parse_qsl(page['next']))
            elif page.get('truncated'):
                raise TributaryError(200, {'message': 'The page says that rows follow, but not how to read them.'})
            else:
                return

    def rows(self, path, query=None):
        """Yields all rows of a list or of a report."""
        for page in self.pages(path, query):
            yield from page['data']

    def export(self, path, file, query=None):
        """Writes all rows of a list to a file in one response: `.csv`, `.ndjson` or `.parquet` by its name.

        The file appears when it is complete. After a broken connection the export starts again.
        """
        part = f'{file}.part'

        def save(response):
            with open(part, 'wb') as output:
                while data := response.read(65_536):
                    output.write(data)
            # TRAP: a read in parts does not notice that the rest of a known length is missing.
            if response.length:
                raise http.client.IncompleteRead(b'', response.length)

        try:
            self._request(path, {**(query or {}), 'format': os.path.splitext(file)[1].lstrip('.')}, save)
            os.replace(part, file)
        finally:
            if os.path.exists(part):
                os.remove(part)

    def send(self, events):
        """Sends events in batches; the next events are requested when a batch is stored.

        An event without `event_id` gets a generated one, so that a retry stores it once. Set your own `event_id` if your
        process may end before it receives the response.

        Returns `{'stored', 'deduplicated', 'overCeiling', 'rejected'}`. `rejected` has an `error` and a `message` for each
        `event` that was refused; an event with `retryAfter` can be sent again after so many seconds.
        """
        sent = {'stored': 0, 'deduplicated': 0, 'overCeiling': 0, 'rejected': []}
        for batch in _batches(events):
            body = b'\n'.join(line for _, line in batch)
            result = self._request('/events/batch', None, _read_json, body)
            for count in ('stored', 'deduplicated', 'overCeiling'):
                sent[count] += result[count]
            for item in result['results']:
                event, _ = batch[item.pop('index')]
                if 'error' in item:
                    sent['rejected'].append({**item, 'event': event})
        return sent

    def _request(self, path, query, read, body=None):
        """Sends a request and returns what `read` makes of its response, both again after a network error."""
        url = self._base_url + path
        if query:
            url += '?' + urllib.parse.urlencode({name: _text(value, name) for name, value in query.items() if value is not None})
        headers = {**self._headers, **({'Content-Type': 'application/x-ndjson'} if body is not None else {})}
        attempt = 0
        while True:
            wait = min(2**attempt / 2, self._wait_max) * random.uniform(2 / 3, 1)
            try:
                request = urllib.request.Request(url, body, headers)
                with self._opener.open(request, timeout=self._timeout) as response:
                    return read(response)
            except urllib.error.HTTPError as error:
                retry_after = error.headers.get('Retry-After', '')
                wait = int(retry_after) if retry_after.isdecimal() else wait
                if error.code not in TRANSIENT_STATUSES or attempt == self._retries or wait > self._wait_max:
                    raise TributaryError(error.code, _body_of(error)) from None
                error.close()
            except NETWORK_ERRORS:
                if attempt == self._retries:
                    raise
            time.sleep(wait)
            attempt += 1


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect is an error: urllib would send the key to any other host."""

    def redirect_request(self, *_):
        return None


def _checked_key(api_key):
    """The key without the white space that copying adds. The message of http.client about an invalid header has the key in it."""
    key = str(api_key).strip()
    if not re.fullmatch('[!-~]{1,512}', key):
        message = 'The API key is empty, too long, or has a line break, a space or another character that no key has.'
        raise TributaryError(401, {'error': 'invalid_api_key', 'message': message})
    return key


def _text(value, name=None):
    """A parameter as the API reads it: true and false in lower case, the literal values of a list with commas, `filters` as JSON."""
    if name == 'filters' and not isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, bool):
        return 'true' if value else 'false'
    if isinstance(value, (list, tuple)):
        text = ','.join(re.sub(r'[\\,]', r'\\\g<0>', _text(one)) for one in value)
        return '\\' + text if text.startswith('!') else text
    return str(value)


def _read_json(response):
    """The decoded body of a response."""
    body = response.read(BODY_BYTES_MAX + 1)
    if len(body) > BODY_BYTES_MAX:
        raise TributaryError(response.status, {'message': f'The response is longer than {BODY_BYTES_MAX} bytes.'})
    # TRAP: a read of a number of bytes does not notice that the rest of a known length is missing.
    if response.length:
        raise http.client.IncompleteRead(body, response.length)
    return json.loads(body)


def _printable(text):
    """The text in one line, without the invisible characters that change what a terminal shows."""
    return ''.join(c if c.isprintable() else c.encode('unicode_escape').decode() for c in text[:4000])


def _body_of(error):
    """The JSON object of an error response; empty if it has none."""
    try:
        with error:
            body = json.loads(error.read(BODY_BYTES_MAX))
        return body if isinstance(body, dict) else {}
    except (ValueError, *NETWORK_ERRORS):
        return {}


def _batches(events):
    """Yields lists of `(event, line)` that fit into a request, each event with its `event_id`."""
    batch, size = [], 0
    for event in events:
        event = {**event, 'event_id': event.get('event_id') or str(uuid.uuid4())}
        line = json.dumps(event).encode()
        if batch and (len(batch) == BATCH_EVENTS_MAX or size + len(line) > BATCH_BYTES_MAX):
            yield batch
            batch, size = [], 0
        batch.append((event, line))
        size += len(line) + 1
    if batch:
        yield batch


def _main(command='', path='', *words):
    key = os.environ.get('TRIBUTARY_KEY')
    api = Tributary(os.environ.get('TRIBUTARY_URL', 'http://127.0.0.1:3000'), key)
    if key and command == 'rows':
        for row in api.rows(path, _query_of(words)):
            print(json.dumps(row))
    elif key and command == 'export' and words:
        api.export(path, words[0], _query_of(words[1:]))
    elif key and command == 'send' and path:
        with open(path, encoding='utf-8') as lines:
            print(json.dumps(api.send(json.loads(line) for line in lines if line.strip())))
    else:
        sys.exit(__doc__)


def _query_of(words):
    """The parameters of words such as `country=DE`."""
    return dict(word.partition('=')[::2] for word in words)


if __name__ == '__main__':
    try:
        _main(*sys.argv[1:])
    except TributaryError as error:
        sys.exit(_printable(f'{error.code or error.status}: {error}'))
    except NETWORK_ERRORS as error:
        sys.exit(_printable(f'The connection failed: {error}'))
