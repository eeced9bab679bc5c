import { KubeConfig } from '@kubernetes/client-node/dist/config.js';
import { takeTokenFiles } from '../runtime/client/credentials/tokenFiles.ts';
import { UsageError } from '../runtime/process/usageError.ts';

/** What client-node guesses where there is nothing to go by. A kubeconfig may name that server, by another context. */
const GUESS = { context: 'loaded-context', server: 'http://localhost:8080' };

/**
 * The way to the API server: the file, or $KUBECONFIG, ~/.kube/config, or the pod's service account.
 *
 * @throws UsageError naming the file, or where it was looked for
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
      'no way to the API server: $KUBECONFIG is not set, there is no ~/.kube/config, and this is no pod with a service ' +
        'account; --kubeconfig=FILE names one',
    );
  }
  return kubeConfig;
}

/** Of what the YAML parser says only where: its message quotes the lines around it, tokens and keys among them. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { mark } = error as { mark?: { line: number; column: number } };
  return mark === undefined ? error.message : `no YAML from line ${mark.line + 1}, column ${mark.column + 1} on`;
}
