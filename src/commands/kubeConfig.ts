import { KubeConfig } from '@kubernetes/client-node/dist/config.js';
import { takeTokenFiles } from '../runtime/client/credentials/tokenFiles.ts';
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
