import { applyObjects, kubectl } from '../../scenario/kubectl.ts';

const POD = 'client';
const IN_DEFAULT = ['-n', 'default'];
/** Seconds that an attempt has. */
const PATIENCE = 2;

/** What a client has seen of Services, or of pods. */
export interface Served {
  readonly requests: number;
  /** Requests whose first attempt failed, and whose second did not. */
  readonly retried: number;
  /** Components that answered at neither attempt, each with what the attempts printed. */
  readonly failures: readonly string[];
}

/**
 * Starts a client on a node, a pod that is not of the stack. It asks each component in turn, with one retry: at its Service, and at one
 * of its pods, with the retry at the next pod.
 */
export async function startClient(
  node: string,
  components: ReadonlyMap<string, { readonly service: string; readonly pods: readonly string[] }>,
): Promise<void> {
  const most = Math.max(...[...components.values()].map(({ pods }) => pods.length));
  const requests = Array.from({ length: most }, (_, turn) =>
    [...components].flatMap(([name, { service, pods }]) => {
      const [first, second] = [pods[turn % pods.length], pods[(turn + 1) % pods.length]];
      return [`ask service ${name} ${service} ${service}`, `ask pods ${name} ${first} ${second}`];
    }),
  );
  const script = [
    `get() { timeout ${PATIENCE} wget -q -O /dev/null "$1"; }`,
    'ask() { if get $3; then echo "$1 ok $2"; elif get $4; then echo "$1 retried $2"; else echo "$1 failed $2"; fi; }',
    'while :; do',
    ...requests.flat(),
    'sleep 0.2',
    'done',
  ].join('\n');
  const container = { name: POD, image: 'docker.io/library/busybox:1.36', command: ['sh', '-c', script] };
  const spec = { nodeName: node, terminationGracePeriodSeconds: 1, containers: [container] };
  await applyObjects([{ apiVersion: 'v1', kind: 'Pod', metadata: { name: POD, namespace: 'default' }, spec }]);
  await kubectl('wait', ...IN_DEFAULT, `pod/${POD}`, '--for=condition=Ready', '--timeout=60s');
}

/** What the client has seen since a time. @param at of Services, or of pods */
export async function servedSince(begin: Date, at: 'service' | 'pods'): Promise<Served> {
  const log = await kubectl('logs', ...IN_DEFAULT, POD, `--since-time=${begin.toISOString()}`);
  const results = log.matchAll(/^((?:wget: .*\n|Terminated\n)*)(service|pods) (ok|retried|failed) (\S+)$/gm);
  const own = [...results].filter(([, , asked]) => asked === at);
  const of = (wanted: string) => own.filter(([, , , result]) => result === wanted);
  return {
    requests: own.length,
    retried: of('retried').length,
    failures: of('failed').map(
      ([, printed = '', , , name = '']) => `${name} (${printed.trim().replaceAll('\n', '; ')})`,
    ),
  };
}
