import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { stringify } from 'yaml';
import { binary } from '../lab/binaries.ts';
import { type ControlPlane, startControlPlane } from '../harness/controlPlane.ts';
import { type Send, sender } from './sender.ts';

export const CHART = fileURLToPath(new URL('../../charts/traffic-operator', import.meta.url));
export const DEPLOY = fileURLToPath(new URL('../../deploy', import.meta.url));

/** The helm releases that people have: 4 and 3, by the names of their programs. */
export const HELMS = ['helm', 'helm3'] as const;
export type Helm = (typeof HELMS)[number];

/** How a program ended, with both of its outputs. */
export interface Outcome {
  ok: boolean;
  text: string;
}

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
  return new Promise((resolve) => {
    const options = { maxBuffer: 1 << 26, env: { ...process.env, ...env } };
    const child = execFile(program, args, options, (error, stdout, stderr) =>
      resolve({ ok: error === null, text: stdout + stderr }),
    );
    // Without an input the program may have ended already: do not write to it then, not even an empty string.
    if (input === '') child.stdin?.end();
    else child.stdin?.end(typeof input === 'string' ? input : stringify(input));
  });
}

export async function startCluster(): Promise<Cluster> {
  const plane: ControlPlane = await startControlPlane();
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
