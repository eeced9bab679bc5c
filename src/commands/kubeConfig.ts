import { KubeConfig } from '@kubernetes/client-node/dist/config.js';
import { existsSync, readFileSync } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import { load } from 'js-yaml';
import { UsageError } from '../runtime/process/usageError.ts';

/**
 * Default of client-node if it finds no configuration. A real kubeconfig may have this server, but not this context.
 */
const GUESS = { context: 'loaded-context', server: 'http://localhost:8080' };

/**
 * Loads the connection to the API server: from the file, or from $KUBECONFIG, ~/.kube/config, or the pod's service
 * account.
 *
 * @throws UsageError with the file, or with the places that were searched
 */
export function loadKubeConfig(file: string | undefined): KubeConfig {
  const kubeConfig = new KubeConfig();
  try {
    if (file === undefined) {
      kubeConfig.loadFromDefault();
    } else {
      kubeConfig.loadFromFile(file);
    }
    takeTokenFiles(kubeConfig, file);
  } catch (error) {
    const source = file === undefined ? '$KUBECONFIG or ~/.kube/config' : `--kubeconfig=${file}`;
    throw new UsageError(`${source}: cannot be used: ${reasonOf(error)}`);
  }
  const isGuess =
    kubeConfig.currentContext === GUESS.context && kubeConfig.getCurrentCluster()?.server === GUESS.server;
  if (file === undefined && isGuess) {
    throw new UsageError(
      'no connection to the API server: $KUBECONFIG is not set, ~/.kube/config does not exist, and the process does ' +
        'not run in a pod with a service account; set --kubeconfig=FILE',
    );
  }
  return kubeConfig;
}

/** For a YAML error, only the position: the message of the parser quotes lines, which may contain tokens and keys. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { mark } = error as { mark?: { line: number; column: number } };
  return mark === undefined ? error.message : `invalid YAML at line ${mark.line + 1}, column ${mark.column + 1}`;
}

/**
 * Restores the `tokenFile` of each user, which client-node's KubeConfig (2.0.1) drops when it reads a kubeconfig. As in
 * client-go, the file takes precedence over a `token`, and a relative path starts at the kubeconfig's directory.
 *
 * @param kubeConfig loaded from `file`, or by loadFromDefault if `file` is undefined
 */
function takeTokenFiles(kubeConfig: KubeConfig, file: string | undefined): void {
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
