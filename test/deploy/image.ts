import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, cp, mkdir, mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { packageRoot } from '../../src/package.ts'

/** A stage of a Dockerfile as a folder of this machine. */
interface Stage {
  name: string
  root: string
  /** WORKDIR, below `root`. */
  workingFolder: string
  /** ENV and ARG, and PATH with the Node.js of FROM. */
  environment: Record<string, string>
  /** ENTRYPOINT, CMD, and the command of HEALTHCHECK. */
  entrypoint: string[]
  command: string[]
  healthCheck: string[]
}

/** The last stage of a Dockerfile, which no user but root may change. */
export interface Image extends Stage {
  close(): Promise<void>
}

/**
 * Follows the lines of `deploy/Dockerfile` without Docker. Each stage is a folder. COPY copies the files that a commit of this
 * checkout has and `.dockerignore` includes. RUN runs a line literally by `sh`, with the variables of the stage only. Node.js is the
 * version of FROM, from npm; all other programs are of this machine.
 * @param args the build arguments
 * @throws Error with the output of a RUN line that fails, and for an unknown instruction
 */
export async function buildImage(args: Record<string, string>): Promise<Image> {
  const folder = await mkdtemp(join(tmpdir(), 'tributary-image-'))
  async function close(): Promise<void> {
    execFileSync('chmod', ['-R', 'u+w', folder])
    await rm(folder, { recursive: true, force: true })
  }
  try {
    const stages: Stage[] = []
    for (const [instruction, rest] of await instructionsOf('deploy/Dockerfile')) {
      if (instruction === 'FROM') stages.push(await newStage(folder, rest))
      else await follow(instruction, rest, stages, args)
    }
    const last = stages.at(-1)
    if (!last) throw new Error('The Dockerfile has no FROM.')
    execFileSync('chmod', ['-R', 'a-w,a+rX', last.root])
    // mkdtemp makes a folder for its owner only.
    await chmod(folder, 0o755)
    return { ...last, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** @returns the instructions without comments, each with the rest of its line and of the lines that continue it */
async function instructionsOf(path: string): Promise<[string, string][]> {
  const dockerfile = await readFile(join(packageRoot, path), 'utf8')
  const lines = dockerfile
    .replace(/^#.*\n/gm, '')
    .replace(/\\\n\s*/g, '')
    .split('\n')
  return lines.filter(Boolean).map((line) => {
    const end = line.indexOf(' ')
    return [line.slice(0, end), line.slice(end + 1)]
  })
}

/** @param base such as `node:24-bookworm-slim AS build` */
async function newStage(folder: string, base: string): Promise<Stage> {
  const [, version, name = 'last'] = /^node:(\d+)-\S+(?: AS (\w+))?$/.exec(base) ?? []
  if (!version) throw new Error(`The test does not know the image ${base}.`)
  const programs = join(folder, `node-${version}`)
  const print = ['--yes', '-p', `node@${version}`, 'node', '-p', 'process.execPath']
  await cp(execFileSync('npx', print, { encoding: 'utf8' }).trim(), join(programs, 'node'))
  const root = join(folder, name)
  // npm shares its cache among the stages.
  const environment = { PATH: `${programs}:${process.env.PATH}`, HOME: join(folder, 'home') }
  return { name, root, workingFolder: root, environment, entrypoint: [], command: [], healthCheck: [] }
}

async function follow(
  instruction: string,
  rest: string,
  stages: readonly Stage[],
  args: Record<string, string>,
): Promise<void> {
  const stage = stages.at(-1)
  if (!stage) throw new Error(`${instruction} is before FROM.`)
  switch (instruction) {
    case 'WORKDIR':
      stage.workingFolder = join(stage.root, rest)
      await mkdir(stage.workingFolder, { recursive: true })
      break
    case 'COPY':
      await copy(rest.split(' '), stage, stages)
      break
    case 'RUN':
      await runLine(rest, stage)
      break
    case 'ENV':
      Object.assign(stage.environment, assignments(rest))
      break
    case 'ARG':
      for (const [name, value] of Object.entries(assignments(rest))) stage.environment[name] = args[name] ?? value
      break
    case 'ENTRYPOINT':
      stage.entrypoint = JSON.parse(rest)
      break
    case 'CMD':
      stage.command = JSON.parse(rest)
      break
    case 'HEALTHCHECK':
      stage.healthCheck = JSON.parse(rest.replace(/^.* CMD /, ''))
      break
    case 'USER':
    case 'EXPOSE':
    case 'LABEL':
      break
    default:
      throw new Error(`The test does not know the instruction ${instruction}.`)
  }
}

function assignments(rest: string): Record<string, string> {
  return Object.fromEntries(rest.split(' ').map((word) => word.split('=')))
}

async function copy(words: string[], { workingFolder }: Stage, stages: readonly Stage[]): Promise<void> {
  const target = words.pop() ?? ''
  const [, stageName] = /^--from=(\w+)$/.exec(words[0] ?? '') ?? []
  if (stageName) {
    const { root = '' } = stages.find(({ name }) => name === stageName) ?? {}
    await cp(join(root, words[1] ?? ''), join(workingFolder, target), { recursive: true, verbatimSymlinks: true })
    return
  }
  for (const path of words) {
    const isFolder = (await stat(join(packageRoot, path))).isDirectory()
    for (const file of await contextFiles(path)) {
      const name = isFolder ? file.slice(path.length) : target.endsWith('/') ? basename(file) : ''
      const copied = join(workingFolder, target, name)
      await mkdir(dirname(copied), { recursive: true })
      await cp(join(packageRoot, file), copied)
    }
  }
}

/** @returns the files at a path or below it that a clean checkout has and `.dockerignore` includes */
async function contextFiles(path: string): Promise<string[]> {
  const words = ['ls-files', '--cached', '--others', '--exclude-standard', '-z', '--', path]
  const files = execFileSync('git', words, { cwd: packageRoot, encoding: 'utf8' }).split('\0').filter(Boolean)
  const lines = (await readFile(join(packageRoot, '.dockerignore'), 'utf8')).split('\n')
  // The last line that matches a path, or a folder above it, decides.
  const rules = lines.filter(Boolean).map((line) => {
    const parts = line.replace(/^!/, '').split('**/')
    const expressions = parts.map((part) => part.replaceAll('.', '\\.').replaceAll('*', '[^/]*'))
    return { isIncluded: line.startsWith('!'), expression: new RegExp(`^${expressions.join('(.*/)?')}(/|$)`) }
  })
  return files.filter((file) => rules.findLast(({ expression }) => expression.test(file))?.isIncluded ?? true)
}

async function runLine(line: string, { workingFolder, environment }: Stage): Promise<void> {
  // A registry may have a certificate of this machine only.
  const { NODE_EXTRA_CA_CERTS = '' } = process.env
  const child = spawn('sh', ['-c', `exec 2>&1; ${line}`], {
    cwd: workingFolder,
    env: { ...environment, NODE_EXTRA_CA_CERTS },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'close')])
  if (code !== 0) throw new Error(`RUN ${line}\nfailed with exit code ${code}:\n${output}`)
}
