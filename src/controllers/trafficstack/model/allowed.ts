import type { ComponentSpec } from '../../../api/trafficstack/trafficStack.ts';
import { CONTROLLER_REVISIONS } from '../../../runtime/client/resources.ts';
import { idOf, type Member } from '../../../runtime/objectSet/objectSet.ts';
import { firstOf } from '../../../runtime/controller/conditions.ts';

/** Where the operator has the right to write the objects of TrafficStacks. */
export interface AllowedNamespaces {
  /** The namespace of the operator, which is always allowed. */
  readonly own: string;
  /** Empty: every namespace. */
  readonly namespaces: readonly string[];
  /** Ids of the objects of built-in components, which the operator may write by their names in any namespace. */
  readonly byName: ReadonlySet<string>;
  /** True while the stacks of users are off: it may write these alone, and ControllerRevisions in its own namespace. Default: false. */
  readonly isByNameOnly?: boolean;
}

/** What the check reads of a component: see RenderedComponent. */
interface Component {
  readonly spec: Pick<ComponentSpec, 'name' | 'mode'>;
  readonly objects: readonly Member[];
}

/** Names that a message has of a namespace. */
const MOST_NAMES = 3;
/** Allowed namespaces that a message has. */
const MOST_ALLOWED = 20;

/**
 * Whether the operator may create, change and delete an object.
 *
 * | its namespace                      | may write |
 * |------------------------------------|-----------|
 * | any, without a list                | yes       |
 * | none: it is of the whole cluster   | yes       |
 * | the operator's                     | yes       |
 * | in the list                        | yes       |
 * | another, an object of a built-in component that the operator has rights on by its name | yes |
 * | another                            | no        |
 * | any, while the stacks of users are off | an object of a built-in component, or its stored revision |
 */
export function mayWrite(member: Member, { own, namespaces, byName, isByNameOnly }: AllowedNamespaces): boolean {
  const namespace = namespaceOf(member);
  if (isByNameOnly === true) {
    const isRevision = member.resource.kind === CONTROLLER_REVISIONS.kind && namespace === own;
    return isRevision || byName.has(idOf(member));
  }
  const isAllowed = namespaces.length === 0 || namespace === '' || namespace === own || namespaces.includes(namespace);
  return isAllowed || byName.has(idOf(member));
}

/**
 * What is wrong and what to do, for users, if a stack has objects where the operator may not write: one sentence for each namespace. Undefined
 * if there are none. TrafficStacks are for administrators of the cluster, so the message names the allowed namespaces.
 *
 * @param components with all objects that they may get. A component of the mode External is not written, so it may be anywhere
 * @param existing objects in the inventory that exist: to remove them, the operator needs the same right
 */
export function namespaceProblems(
  components: readonly Component[],
  existing: readonly Member[],
  allowed: AllowedNamespaces,
): string[] {
  const written = components.filter(({ spec: { mode } }) => mode !== 'External');
  const named = written.flatMap(({ spec, objects }) =>
    objects.filter((each) => !mayWrite(each, allowed)).map((each) => ({ namespace: namespaceOf(each), of: spec.name })),
  );
  const wanted = [...Map.groupBy(named, ({ namespace }) => namespace)].map(([namespace, all]) => {
    const names = [...new Set(all.map(({ of }) => of))];
    const who = `component${names.length === 1 ? '' : 's'} ${firstOf(names, MOST_NAMES)}`;
    return `${who}: the operator may not write in namespace ${namespace}: add it to ${VALUE}, or use an allowed namespace: ${allowedText(allowed)}`;
  });
  const known = new Set(named.map(({ namespace }) => namespace));
  const left = existing.filter((each) => !mayWrite(each, allowed) && !known.has(namespaceOf(each)));
  const kept = [...Map.groupBy(left, namespaceOf)].map(
    ([namespace, all]) =>
      `${firstOf(all.map(idOf), MOST_NAMES)} of this stack exists, and the operator may not delete in namespace ${namespace}: add it to ${VALUE}, or delete what is no longer needed yourself`,
  );
  return [...wanted, ...kept];
}

const VALUE = 'stacks.namespaces of the chart (--stack-namespace)';

/** What happens to objects of a stack that is being deleted, if the operator may not delete them. @param objects at least one */
export function leftText(objects: readonly Member[]): string {
  const namespaces = [...new Set(objects.map(namespaceOf))];
  const where = `namespace${namespaces.length === 1 ? '' : 's'} ${firstOf(namespaces, MOST_NAMES)}`;
  return `the operator may not delete in ${where}, so Kubernetes deletes these when the stack is gone, in no order: ${firstOf(objects.map(idOf), MOST_NAMES)}`;
}

function allowedText({ own, namespaces }: AllowedNamespaces): string {
  return firstOf([...new Set([own, ...namespaces])].sort(), MOST_ALLOWED);
}

function namespaceOf({ object: { metadata } }: Member): string {
  return metadata?.namespace ?? '';
}
