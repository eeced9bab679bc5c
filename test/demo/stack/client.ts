import { applyObjects, kubectl } from '../../scenario/kubectl.ts';

const IN_DEFAULT = ['-n', 'default'];
/** Seconds that an attempt has: more than a process waits for a processor of a busy machine. */
const PATIENCE = 5;

/** Seconds between two requests. */
const PAUSE = 0.4;

/** Where a client asks: the Service of a component with several pods, or with one pod; those pods one after the other; a vrouter. */
export const PLACES = ['service', 'single', 'pods', 'vrouter'] as const;
export type Place = (typeof PLACES)[number];

/** A request that a client repeats all the time. */
export interface Question {
  readonly at: Place;
  /** A component; of a vrouter, its node. */
  readonly name: string;
  /** Asked one after the other. A failed request is sent again once, to the next one. */
  readonly urls: readonly string[];
}

/** The answers that a client got at one place. */
export interface Served {
  readonly requests: number;
  /** Names that answered. */
  readonly answered: ReadonlySet<string>;
  /** Requests whose first attempt failed, and whose second did not. */
  readonly retried: number;
  /** Names that answered at neither attempt, each with what the attempts printed. */
  readonly failures: readonly string[];
}

/** Starts a client on a node, a pod that is not of the stack. No request waits for one of another question. */
export async function startClient(name: string, node: string, questions: readonly Question[]): Promise<void> {
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
    ...questions.map(loop),
    'wait',
  ].join('\n');
  const container = { name, image: 'docker.io/library/busybox:1.36', command: ['sh', '-c', script] };
  const spec = { nodeName: node, terminationGracePeriodSeconds: 1, containers: [container] };
  await applyObjects([{ apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'default' }, spec }]);
  await kubectl('wait', ...IN_DEFAULT, `pod/${name}`, '--for=condition=Ready', '--timeout=60s');
}

function loop({ at, name, urls }: Question): string {
  const requests = urls.map((url, turn) => `ask ${at} ${name} ${url} ${urls[(turn + 1) % urls.length]}`);
  return `while :; do ${requests.join('; ')}; done &`;
}

/** The answers that a client got since a time, at each place. */
export async function servedSince(client: string, begin: Date): Promise<Record<Place, Served>> {
  return servedIn(await kubectl('logs', ...IN_DEFAULT, client, `--since-time=${begin.toISOString()}`));
}

/** Reads the log of a client. */
export function servedIn(log: string): Record<Place, Served> {
  const results = [...log.matchAll(/^(\w+) (ok|retried|failed) (\S+)(?: (.*))?$/gm)];
  const servedAt = (at: Place): Served => {
    const own = results.filter(([, asked]) => asked === at);
    const of = (wanted: string) => own.filter(([, , result]) => result === wanted);
    return {
      requests: own.length,
      answered: new Set([...of('ok'), ...of('retried')].map(([, , , name = '']) => name)),
      retried: of('retried').length,
      failures: of('failed').map(([, , , name = '', printed = '']) => `${name} (${printed})`),
    };
  };
  return Object.fromEntries(PLACES.map((at) => [at, servedAt(at)])) as Record<Place, Served>;
}
