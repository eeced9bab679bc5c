import { applyObjects, kubectl } from '../../scenario/kubectl.ts';

const POD = 'client';
const IN_DEFAULT = ['-n', 'default'];
/** Seconds that an attempt has. */
const PATIENCE = 2;

/** Seconds between two requests. */
const PAUSE = 0.4;

/** What a client has seen of Services, or of pods. */
export interface Served {
  readonly requests: number;
  /** Components that answered. */
  readonly answered: ReadonlySet<string>;
  /** Requests whose first attempt failed, and whose second did not. */
  readonly retried: number;
  /** Components that answered at neither attempt, each with what the attempts printed. */
  readonly failures: readonly string[];
}

/**
 * Starts a client on a node, a pod that is not of the stack. It asks each component all the time, with one retry: at its Service, and at
 * one of its pods after the other, with the retry at the next pod. No request waits for one to another component.
 */
export async function startClient(
  node: string,
  components: ReadonlyMap<string, { readonly service: string; readonly pods: readonly string[] }>,
): Promise<void> {
  const loops = [...components].flatMap(([name, { service, pods }]) => [
    loop([`ask service ${name} ${service} ${service}`]),
    loop(pods.map((pod, turn) => `ask pods ${name} ${pod} ${pods[(turn + 1) % pods.length]}`)),
  ]);
  const script = [
    `get() { timeout ${PATIENCE} wget -q -O /dev/null "$1" 2>&1; }`,
    'ask() {',
    '  if first=$(get $3); then echo "$1 ok $2"',
    '  elif second=$(get $4); then echo "$1 retried $2"',
    // Without quotes: each request is one line.
    '  else echo "$1 failed $2" $first";" $second',
    '  fi',
    `  sleep ${PAUSE}`,
    '}',
    ...loops,
    'wait',
  ].join('\n');
  const container = { name: POD, image: 'docker.io/library/busybox:1.36', command: ['sh', '-c', script] };
  const spec = { nodeName: node, terminationGracePeriodSeconds: 1, containers: [container] };
  await applyObjects([{ apiVersion: 'v1', kind: 'Pod', metadata: { name: POD, namespace: 'default' }, spec }]);
  await kubectl('wait', ...IN_DEFAULT, `pod/${POD}`, '--for=condition=Ready', '--timeout=60s');
}

function loop(requests: readonly string[]): string {
  return `while :; do ${requests.join('; ')}; done &`;
}

/** What the client has seen since a time. @param at of Services, or of pods */
export async function servedSince(begin: Date, at: 'service' | 'pods'): Promise<Served> {
  return servedIn(await kubectl('logs', ...IN_DEFAULT, POD, `--since-time=${begin.toISOString()}`), at);
}

/** What the log of the client says. */
export function servedIn(log: string, at: 'service' | 'pods'): Served {
  const results = log.matchAll(/^(service|pods) (ok|retried|failed) (\S+)(?: (.*))?$/gm);
  const own = [...results].filter(([, asked]) => asked === at);
  const of = (wanted: string) => own.filter(([, , result]) => result === wanted);
  return {
    requests: own.length,
    answered: new Set([...of('ok'), ...of('retried')].map(([, , , name = '']) => name)),
    retried: of('retried').length,
    failures: of('failed').map(([, , , name = '', printed = '']) => `${name} (${printed})`),
  };
}
