import { StackReason } from '../../../api/trafficstack/reasons.ts';
import type { ComponentType } from '../../../api/trafficstack/terms.ts';
import { type ComponentSpec, componentsIn, type TrafficStack } from '../../../api/trafficstack/trafficStack.ts';
import { CONTROLLER_REVISIONS } from '../../../runtime/client/resources.ts';
import { firstOf } from '../../../runtime/controller/conditions.ts';
import { idOf, type Member } from '../../../runtime/objectSet/objectSet.ts';
import type { Failure } from '../../../runtime/process/problem.ts';
import { DEFAULT_STACK } from '../../contract/stackOwnership.ts';
import { isEnabled } from './desired.ts';

/** The namespaces in which the operator may write objects of TrafficStacks. */
export interface AllowedNamespaces {
  /** The namespace of the operator, which is always allowed. */
  readonly own: string;
  /** Further allowed namespaces. Empty: every namespace. */
  readonly namespaces: readonly string[];
  /** Ids of the objects of built-in components, which the operator may write by name in any namespace. */
  readonly byName: ReadonlySet<string>;
  /** True while the stacks of users are off: the operator may write only these objects, and ControllerRevisions in its own namespace. Default: false. */
  readonly isByNameOnly?: boolean;
}

/** The fields of a component that the check reads: see RenderedComponent. */
interface Component {
  readonly spec: Pick<ComponentSpec, 'name' | 'mode'>;
  readonly objects: readonly Member[];
}

/** Names in a message about a namespace. */
const MOST_NAMES = 3;
/** Allowed namespaces in a message. */
const MOST_ALLOWED = 20;

/**
 * Returns whether the operator may create, change and delete an object.
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
 * Returns one sentence for each namespace in which a stack has objects and the operator may not write, with what to do. TrafficStacks are for
 * administrators of the cluster, so the message names the allowed namespaces.
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

/** Describes the objects of a stack that is being deleted which the operator may not delete. @param objects at least one */
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

/** Components in a message. */
const MOST_COMPONENTS = 3;
const ADVICE = 'set stacks.enabled of the chart (--stacks)';

/**
 * Returns why nothing of a stack is written while the stacks of users are off. Undefined if it may be written:
 *
 * | stack     | its components                                  | written |
 * |-----------|-------------------------------------------------|---------|
 * | `default` | all of types that the operator deploys by itself | yes     |
 * | `default` | one of another type, which is not Disabled      | no      |
 * | any other | any                                             | no      |
 *
 * @param ownTypes the types that the operator deploys by itself: it has rights on their objects by their names
 */
export function userStackProblem(stack: TrafficStack, ownTypes: ReadonlySet<ComponentType>): Failure | undefined {
  const { metadata } = stack;
  if (metadata?.name !== DEFAULT_STACK) return notEnabled(`Stacks of users are off: ${ADVICE}`);
  const others = componentsIn(stack).filter((each) => isEnabled(each) && !ownTypes.has(each.type));
  if (others.length === 0) return undefined;
  const names = firstOf(
    others.map(({ name, type }) => `${name} (${type})`),
    MOST_COMPONENTS,
  );
  return notEnabled(`Stacks of users are off, and these components need them: ${names}. Remove them, or ${ADVICE}`);
}

function notEnabled(message: string): Failure {
  return { reason: StackReason.StacksNotEnabled, message };
}
