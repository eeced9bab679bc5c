import { existsSync } from 'node:fs';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { measured, seconds, until } from '../../harness/measured.ts';
import { kubeconfigPath, labUp } from '../../lab/lab.ts';
import { provideImage } from '../../scenario/install.ts';
import { forgetEvents, stepToBaseline, unshapeNodes } from './cleanUp.ts';
import { readBaseline, type Baseline } from './inventory.ts';

/**
 * One lab for all stories that need no more than an installed operator. The first story starts it, globalSetup.ts takes
 * it down. Each story is a file of its own, so the state of the lab is a file in the lab's directory:
 *
 * | File       | Lab                                                          | The next story |
 * |------------|--------------------------------------------------------------|----------------|
 * | clean.json | as started: three nodes, the operator's image                | uses it        |
 * | taken.json | a story runs, or ended without a clean-up that succeeded     | starts a new one |
 * | neither    | none, or one that is not for stories                         | starts a new one |
 *
 * Both files hold the baseline: what is in a clean cluster.
 */
export const NODES = ['node1', 'node2', 'node3'];
const labDirectory = dirname(kubeconfigPath());
const CLEAN = join(labDirectory, 'clean.json');
const TAKEN = join(labDirectory, 'taken.json');
/** A clean-up takes 10 to 30 s; the rest is slack for a busy machine: ms. */
const LONGEST_CLEAN_UP = 240_000;

/**
 * Takes the lab for a story: with the nodes NODES, the operator's image on them, and nothing else.
 *
 * @returns when the story began; what the audit log has from before belongs to other stories
 */
export async function enterLab(): Promise<Date> {
  if (!existsSync(CLEAN)) {
    await labUp({ nodes: NODES.length });
    await provideImage();
    await writeFile(CLEAN, JSON.stringify(await readBaseline()));
  }
  await rename(CLEAN, TAKEN);
  return new Date();
}

/**
 * Returns the lab to its baseline, whatever state the story left it in. Does nothing if the story never had the lab.
 *
 * @throws if it is not clean within LONGEST_CLEAN_UP, with what is left; the next story then starts a new lab
 */
export async function leaveLab(): Promise<void> {
  if (!existsSync(TAKEN)) return;
  const baseline = JSON.parse(await readFile(TAKEN, 'utf8')) as Baseline;
  await unshapeNodes(baseline);
  const took = await until('the lab is clean', () => stepToBaseline(baseline), {
    timeout: LONGEST_CLEAN_UP,
    every: 500,
  });
  await forgetEvents();
  await rename(TAKEN, CLEAN);
  measured(`the lab was clean ${seconds(took)} after the story`);
}
