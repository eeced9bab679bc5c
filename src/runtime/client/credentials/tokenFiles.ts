import { existsSync, readFileSync } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import type { KubeConfig } from '@kubernetes/client-node';
import { load } from 'js-yaml';

/**
 * Restores the `tokenFile` of each user, which client-node's KubeConfig (2.0.1) drops when it reads a kubeconfig. As in
 * client-go, the file takes precedence over a `token`, and a relative path starts at the kubeconfig's directory.
 *
 * @param kubeConfig loaded from `file`, or by loadFromDefault if `file` is undefined
 */
export function takeTokenFiles(kubeConfig: KubeConfig, file: string | undefined): void {
  const tokenFiles = new Map(filesOf(file).flatMap(tokenFilesOf));
  const { clusters, contexts, currentContext } = kubeConfig;
  const users = kubeConfig.users.map((user) => {
    const tokenFile = tokenFiles.get(user.name);
    if (tokenFile === undefined) return user;
    return { ...user, token: undefined, authProvider: { name: 'tokenFile', config: { tokenFile } } };
  });
  kubeConfig.loadFromOptions({ clusters, contexts, currentContext, users });
}

function filesOf(file: string | undefined): string[] {
  if (file !== undefined) return [file];
  const named = process.env.KUBECONFIG?.split(delimiter).filter((path) => path !== '') ?? [];
  if (named.length > 0) return named;
  const usual = join(process.env.HOME ?? '', '.kube', 'config');
  return existsSync(usual) ? [usual] : [];
}

interface KubeConfigText {
  users?: readonly { name: string; user?: { tokenFile?: unknown } | null }[] | null;
}

/** Name and tokenFile of each user; undefined if a user has none. */
function tokenFilesOf(file: string): [name: string, tokenFile: string | undefined][] {
  const { users } = load(readFileSync(file, 'utf8')) as KubeConfigText;
  return (users ?? []).map(({ name, user }) => {
    const tokenFile = user?.tokenFile;
    const isNamed = typeof tokenFile === 'string' && tokenFile !== '';
    return [name, isNamed ? resolve(dirname(file), tokenFile) : undefined];
  });
}
