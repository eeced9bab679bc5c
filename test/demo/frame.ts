import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { labDown, labUp } from '../lab/lab.ts';
import { operatorLogs, provideImage } from '../scenario/install.ts';
import { step } from './steps.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

let starting: Promise<void> | undefined;
let down: Promise<void> | undefined;
const interrupt = new AbortController();

/** Starts a cluster of so many nodes, with the operator's image on them. @param before what is done before that image is built */
export async function startCluster(
  nodes: number,
  before: () => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  await step('checking what this machine has to have', () => run('test/lab/prerequisites.sh'));
  await step('building the lab (Kubernetes, containerd, Prometheus, ...; minutes the first time)', () =>
    run('test/lab/build.sh'),
  );
  await step(`starting a cluster of ${nodes} nodes`, () => (starting = labUp({ nodes })));
  await before();
  await step('building the image from the Dockerfile and loading it', provideImage);
}

function run(program: string): Promise<void> {
  execFileSync(`${ROOT}${program}`, [], { stdio: ['ignore', 'inherit', 'inherit'] });
  return Promise.resolve();
}

/**
 * Runs the acts of a demo. Leaves the cluster running, unless DEMO_DOWN is set. If a step fails, or after an interrupt, it takes the
 * cluster down, and the process ends with another code than 0.
 */
export async function runDemo(acts: () => Promise<void>): Promise<void> {
  takeDownOnInterrupt();
  try {
    await acts();
    if (process.env.DEMO_DOWN) await step('taking the cluster down', labDown);
  } catch (error) {
    if (!interrupt.signal.aborted) await explain(error);
    await takeDown();
    process.exitCode = interrupt.signal.aborted ? 130 : 1;
  }
}

/** An interrupt must leave no cluster behind. The processes of the lab do not receive the signal. */
function takeDownOnInterrupt(): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      console.error(`\ndemo: ${signal}: taking the cluster down`);
      interrupt.abort();
      void takeDown().finally(() => process.exit(130));
    });
  }
}

/** Runs once: after an interrupt, the handler and the failed step both call it. Waits for a start in progress. */
function takeDown(): Promise<void> {
  down ??= Promise.allSettled([starting])
    .then(labDown)
    .catch((error: unknown) => console.error(`demo: the cluster could not be taken down: ${String(error)}`));
  return down;
}

/** Prints the reason last, at the end of the log. */
async function explain(error: unknown): Promise<void> {
  console.error(`\n${await operatorLogs().catch(() => 'the operator has no logs yet')}`);
  console.error(`\ndemo: ${error instanceof Error ? error.message : String(error)}`);
}
