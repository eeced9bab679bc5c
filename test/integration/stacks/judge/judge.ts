import type { TrafficStack } from '../../../../src/api/trafficstack/trafficStack.ts';
import { leftBy, lostClaims, lostFiles, notAvailable, wrongFiles, type Expected } from './content.ts';
import type { Change } from './history.ts';
import { isOfLaterWave, tooEarly, usersOf } from './order.ts';
import { againstGate, isGated, isRestored, untruths, wronglyRestored } from './upgrade.ts';
import { imageOf, isRemoval, isStack, isWorkload, nameOf, ownerOf, World, type Write } from './world.ts';

/** Counts of the judged items, so that a test knows that they have been judged. */
export interface Counts {
  /** Workloads that were created, changed to another image, restored to an older one, and removed. */
  created: number;
  changed: number;
  /** Changed workloads that had to wait for an earlier wave. */
  waited: number;
  restored: number;
  removed: number;
  /** Gates that were opened. */
  opened: number;
  /** Pods with files. */
  withFiles: number;
  /** Claims that were removed. */
  claims: number;
}

/** The result of the history of the stacks. */
export interface Verdict extends Readonly<Counts> {
  /** The violations, one sentence each. */
  readonly violations: readonly string[];
}

/**
 * Judges all that was done to stacks and what they have:
 *
 * | what                              | must hold at that revision                                                          |
 * |-----------------------------------|-------------------------------------------------------------------------------------|
 * | a workload is created, or gets another image | in some spec so far that has this image, all dependencies have their image and are available; not if no status called it Ready with the template that is replaced |
 * | the image of a workload with which a status called it Ready is replaced | in the same spec, all components of earlier waves have their image, and were available with it |
 * | a workload gets an older image back, after its status says that the present one has failed | it is exactly as when the status said last that it is Ready, and was available so |
 * | a workload is removed, or about to be | no workload and no pod of those that depend on it is there                      |
 * | a status says that a component is Ready with a version | the workload was available with that version                    |
 * | any object of a stack whose gate is closed | it is not changed, removed or added to a component that exists             |
 * | a workload with high availability | it has a pod for each node, and a budget before it is created                       |
 * | a pod begins                      | its files belong to its image                                                       |
 * | a ConfigMap                       | it is never changed, and not removed under a pod, unless the stack is being deleted |
 * | a claim is removed                | its policy is Delete                                                                |
 * | a stack is gone                   | no object of it and none of its pods is there                                       |
 */
export function judge(changes: readonly Change[], expected: Expected): Verdict {
  const world = new World();
  const violations: string[] = [];
  const counts: Counts = {
    created: 0,
    changed: 0,
    waited: 0,
    restored: 0,
    removed: 0,
    opened: 0,
    withFiles: 0,
    claims: 0,
  };
  /** The policies of claims, by component. */
  const policies = new Map<string, string>();
  for (const change of changes) {
    const write = world.take(change);
    if (isStack(change.key)) keepPolicies(change.object as TrafficStack | undefined, policies);
    count(write, counts, expected);
    const found = [
      ...ofWorkload(write, world, counts),
      ...(isStack(change.key) && change.object !== undefined ? untruths(change.object as TrafficStack, world) : []),
      ...againstGate(write, world),
      ...notAvailable(write, world, expected),
      ...wrongFiles(write, world, expected),
      ...lostFiles(write, world),
      ...lostClaims(write, policies),
      ...leftBy(write, world),
    ];
    violations.push(...found.map((sentence) => `${sentence} (revision ${change.revision})`));
  }
  return { violations, ...counts };
}

/** Whether the order of workloads is kept. */
function ofWorkload(write: Write, world: World, counts: Counts): string[] {
  const { key, before, object } = write;
  if (!isWorkload(key)) return [];
  const known = world.specsOf(ownerOf(object ?? before));
  if (isRemoval(write) && before !== undefined) {
    counts.removed += 1;
    return usersOf(before, known, world).map((user) => `${nameOf(before)} was removed before ${user}`);
  }
  if (object === undefined || imageOf(object) === imageOf(before)) return [];
  const isBack = isRestored(write, world);
  counts[isBack ? 'restored' : before === undefined ? 'created' : 'changed'] += 1;
  if (!isBack && isOfLaterWave({ before, object }, known.at(-1)?.components ?? [], world)) counts.waited += 1;
  const problem = isBack ? wronglyRestored(object, world) : tooEarly({ before, object }, known, world);
  return problem === undefined ? [] : [problem];
}

function keepPolicies(stack: TrafficStack | undefined, policies: Map<string, string>): void {
  for (const { name, workload } of stack?.spec.components ?? [])
    policies.set(name, workload?.volumeClaimPolicy ?? 'Retain');
}

function count(write: Write, counts: Counts, { filesOf }: Expected): void {
  const { key, before, object } = write;
  const isPod = key.startsWith('/registry/pods/');
  if (isPod && before === undefined && filesOf(nameOf(object), '') !== undefined) counts.withFiles += 1;
  if (key.startsWith('/registry/persistentvolumeclaims/') && isRemoval(write)) counts.claims += 1;
  if (!isStack(key) || before === undefined || object === undefined) return;
  if (isGated(before as TrafficStack) && !isGated(object as TrafficStack)) counts.opened += 1;
}
