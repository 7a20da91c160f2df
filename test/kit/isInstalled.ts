import { existsSync } from 'node:fs'

/** The programs that only some tests need: Debian packages, each with one of its files. */
const packages = {
  'chromium-headless-shell': '/usr/bin/chromium-headless-shell',
  curl: '/usr/bin/curl',
  debootstrap: '/usr/sbin/debootstrap',
  'default-jre-headless': '/usr/bin/java',
  faketime: '/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1',
  git: '/usr/bin/git',
  jq: '/usr/bin/jq',
  'libzookeeper-java': '/usr/share/java/zookeeper.jar',
  nginx: '/usr/sbin/nginx',
  'postgresql-15': '/usr/lib/postgresql/15/bin',
  prometheus: '/usr/bin/prometheus',
  python3: '/usr/bin/python3',
  'redis-server': '/usr/bin/redis-server',
  strace: '/usr/bin/strace',
  wget: '/usr/bin/wget',
} as const
type DebianPackage = keyof typeof packages

export const fileOf = (name: DebianPackage): string => packages[name]

export const isInstalled = (...names: DebianPackage[]): boolean => names.every((name) => existsSync(packages[name]))

/** @returns the packages without which tests are skipped */
export const missingPackages = () => Object.keys(packages).filter((name) => !isInstalled(name as DebianPackage))
