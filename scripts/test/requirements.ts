import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const LAB_BUILD = fileURLToPath(new URL('../../test/lab/build.sh', import.meta.url));
const LAB_INSTALL = fileURLToPath(new URL('../../test/lab/install.sh', import.meta.url));

/** kube-apiserver and etcd are built for Linux. */
export function needsLinux(): string | undefined {
  return process.platform === 'linux' ? undefined : `needs Linux, this is ${process.platform}`;
}

/**
 * Go is required only if something must be built.
 *
 * @param families that test/lab/build.sh builds; none means all
 */
export function needsGo(families: readonly string[], areBuilt = areAllBuilt): string | undefined {
  return hasProgram('go') || areBuilt(families)
    ? undefined
    : `needs Go 1.21 or newer to build ${families.join(', ') || 'a cluster'} (https://go.dev/dl)`;
}

/** moto runs on Python, in an environment of its own (test/lab/moto.sh). Installs venv as root on Debian. */
export function needsPython(): string | undefined {
  if (hasVenv()) return undefined;
  if (process.getuid?.() === 0 && hasProgram('apt-get')) {
    execFileSync(LAB_INSTALL, ['python3-venv'], { stdio: 'inherit' });
  }
  return hasVenv() ? undefined : 'needs Python 3.10 or newer with venv (Debian: apt-get install python3-venv)';
}

function hasVenv(): boolean {
  return spawnSync('python3', ['-c', 'import ensurepip, venv'], { stdio: 'ignore' }).status === 0;
}

/** Network namespaces and containers need root. */
export function needsLab(): string | undefined {
  return needsLinux() ?? needsRoot('network namespaces') ?? needsGo([]);
}

/** buildah builds the image, and chroot runs it. test/image/build.sh installs buildah as root on Debian. */
export function needsImage(): string | undefined {
  return needsLinux() ?? needsRoot('buildah and chroot') ?? needsBuildah();
}

function needsBuildah(): string | undefined {
  const missing = ['buildah', 'busybox'].filter((program) => !hasProgram(program));
  return missing.length === 0 || hasProgram('apt-get')
    ? undefined
    : `needs ${missing.join(' and ')} (Debian: apt-get install ${missing.join(' ')})`;
}

/** Installs shellcheck if that needs no confirmation: as root on Debian. */
export function needsShellcheck(): string | undefined {
  if (hasProgram('shellcheck')) return undefined;
  if (process.getuid?.() === 0 && hasProgram('apt-get')) {
    execFileSync(LAB_INSTALL, ['shellcheck'], { stdio: 'inherit' });
  }
  return hasProgram('shellcheck') ? undefined : 'needs shellcheck (Debian: apt-get install shellcheck)';
}

function needsRoot(purpose: string): string | undefined {
  const uid = process.getuid?.();
  return uid === 0 ? undefined : `needs root for ${purpose}, this is user ${uid ?? 'unknown'}`;
}

function hasProgram(name: string): boolean {
  return (process.env.PATH ?? '').split(':').some((directory) => existsSync(`${directory}/${name}`));
}

function areAllBuilt(families: readonly string[]): boolean {
  return spawnSync(LAB_BUILD, ['--complete', ...families], { stdio: 'ignore' }).status === 0;
}
