import { fileURLToPath } from 'node:url';
import { stringify } from 'yaml';
import { binary } from '../lab/binaries.ts';
import { outcomeOf, type Outcome } from '../harness/execute.ts';
import { type ControlPlane, startControlPlane } from '../harness/controlPlane.ts';
import { type Send, sender } from './sender.ts';

export const CHART = fileURLToPath(new URL('../../charts/traffic-operator', import.meta.url));
export const DEPLOY = fileURLToPath(new URL('../../deploy', import.meta.url));

/** The helm releases that people have: 4 and 3, by the names of their programs. */
export const HELMS = ['helm', 'helm3'] as const;
export type Helm = (typeof HELMS)[number];

/** A real API server, and the programs that people talk to it with. */
export interface Cluster {
  readonly kubeconfig: string;
  /** Has its files; removed by `stop`. */
  readonly directory: string;
  /** Sends requests as the administrator. */
  admin(): Promise<Send>;
  /** Sends requests as a ServiceAccount, with a token of it. */
  account(namespace: string, name: string): Promise<Send>;
  readonly kubectl: (args: readonly string[], input?: string | object) => Promise<Outcome>;
  helm(program: Helm, ...args: readonly string[]): Promise<Outcome>;
  stop(): Promise<void>;
}

/** Runs a program to its end; `input` is what it reads. */
export function run(program: string, args: readonly string[], input: string | object = '', env = {}): Promise<Outcome> {
  return outcomeOf(program, args, { input: typeof input === 'string' ? input : stringify(input), env });
}

export async function startCluster(): Promise<Cluster> {
  return clusterOf(await startControlPlane());
}

/** The same on an API server that runs already, and that `stop` stops. */
export async function clusterOf(plane: ControlPlane): Promise<Cluster> {
  const env = {
    KUBECONFIG: plane.kubeconfig,
    // helm keeps caches and its own settings; neither is to be the user's.
    HELM_CACHE_HOME: `${plane.directory}/helm`,
    HELM_CONFIG_HOME: `${plane.directory}/helm`,
    HELM_DATA_HOME: `${plane.directory}/helm`,
  };
  const program = await binary('kubectl');
  const kubectl: Cluster['kubectl'] = (args, input) => run(program, args, input, env);
  return {
    ...{ kubeconfig: plane.kubeconfig, directory: plane.directory, kubectl },
    admin: () => sender(plane),
    async account(namespace, name) {
      const { ok, text } = await kubectl(['create', 'token', name, '-n', namespace]);
      if (!ok) throw new Error(`no token of ${namespace}/${name}: ${text}`);
      return sender(plane, text.trim());
    },
    helm: async (program, ...args) => run(await binary(program), args, '', env),
    stop: () => plane.stop(),
  };
}
