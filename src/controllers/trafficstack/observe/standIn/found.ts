import type { ComponentMode, ComponentType } from '../../../../api/trafficstack/terms.ts';
import type { UsedObject } from '../../../../api/trafficstack/trafficStack.ts';
import { APPLIED_HASH_ANNOTATION } from '../../../../runtime/apply/difference.ts';
import { apiVersionOf, keyOf, type KubeObject } from '../../../../runtime/client/resource.ts';
import { idOf, isMarked } from '../../../../runtime/objectSet/objectSet.ts';
import type { StandIn } from '../../../contract/builtIn.ts';
import { OWNER } from '../../../contract/labels.ts';
import type { Placement } from '../../../../nodes/nodeAffinity.ts';
import type { Candidate } from '../../model/choice.ts';
import type { DesiredObject } from '../../render/objects.ts';
import type { NodeListeners } from '../listening/nodeListeners.ts';
import type { ObservedComponent, ObservedObject } from '../observation.ts';
import type { ServerProbes } from '../serverProbes.ts';
import type { Look } from '../strangers/strangers.ts';

/** A built-in component whose own workload is in no cache. */
export interface Seeking {
  /** Undefined: the component is what the stack makes. */
  readonly standIn: StandIn | undefined;
  readonly mode: ComponentMode | undefined;
  /** The workload that the stack would make; undefined if it makes none. */
  readonly own: DesiredObject | undefined;
  /** The only object that is read. Undefined: a search. */
  readonly named: UsedObject | undefined;
  /** The types of which the stack uses what somebody else has made, as found before this component. */
  readonly used: ReadonlySet<ComponentType>;
  /** How long a found object has to start, such as `10m`. */
  readonly patience: string;
  /** Whether that time is over. */
  readonly isOver: boolean;
  /** ms since 1970 */
  readonly now: number;
}

/** Where it is looked for. */
export interface Sources {
  readonly strangers: Pick<Look, 'read' | 'list'>;
  readonly probes: Pick<ServerProbes, 'proof'>;
  readonly listeners: Pick<NodeListeners, 'ask'>;
  /** The number of nodes that can be measured, and on which pods with a placement run. */
  readonly measurable: (placement?: Placement) => number;
}

/** What a component uses, if it has `external`; otherwise its own, and `unproven` says what it does not use. */
export type Found =
  | (Pick<ObservedComponent, 'objects' | 'external'> & { readonly unproven?: never })
  | (Pick<ObservedComponent, 'unproven'> & { readonly objects?: never; readonly external?: never });

export type SeekingStandIn = Seeking & { readonly standIn: StandIn };

export const OUTSIDE = 'is in a namespace that --discovery-namespace (discovery.namespaces in the chart) does not name';

/** Those that nobody may use. */
export function refused(outside: readonly KubeObject[]): Candidate<KubeObject>[] {
  return outside.map((live) => ({ live, proof: { is: 'Unproven', lack: OUTSIDE } }));
}

/** Its own, with the reason why what was found is not used. */
export function ownInsteadOf(standIn: StandIn, candidate: Candidate<KubeObject> | undefined): Found | undefined {
  if (candidate === undefined || candidate.proof.is === 'Proven') return undefined;
  return { unproven: `${idOf(observedObject(standIn, candidate.live))} ${candidate.proof.lack}` };
}

/** Nothing, while what was found has time to start. */
export function awaiting({ standIn, patience }: SeekingStandIn, { live, proof }: Candidate<KubeObject>): Found {
  const object = observedObject(standIn, live);
  const lack = proof.is === 'Proven' ? '' : proof.lack;
  const awaited = `${idOf(object)} ${lack}: the operator waits ${patience} for it, then deploys its own; to have that at once, set the mode Managed`;
  return { objects: [object], external: { sought: standIn.sought, awaited } };
}

export function refOf({ namespace, name }: UsedObject): KubeObject {
  return { metadata: { namespace, name } };
}

/** Those in the namespaces where they may be, and the others. By namespace and name, so that their order does not matter. */
export function matching(
  all: readonly KubeObject[],
  standIn: StandIn,
  used: Seeking['used'],
): { readonly inside: readonly KubeObject[]; readonly outside: readonly KubeObject[] } {
  const found = all
    .filter((live) => isOfOthers(live) && standIn.matches(live, used))
    .sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  const isInside = ({ metadata }: KubeObject): boolean => mayBeIn(standIn, metadata?.namespace);
  return { inside: found.filter(isInside), outside: found.filter((live) => !isInside(live)) };
}

/** @param namespace empty for a node, which is in none */
export function mayBeIn({ namespaces = [] }: StandIn, namespace = ''): boolean {
  return namespaces.length === 0 || namespace === '' || namespaces.includes(namespace);
}

/** Whether a search is limited to some namespaces. No object tells the namespace of a program that listens on the nodes. */
export function isLimited({ namespaces = [] }: StandIn): boolean {
  return namespaces.length > 0;
}

/** Whether a search may find it. One that is being deleted is gone soon. */
function isOfOthers(live: KubeObject): boolean {
  return !isOurs(live) && live.metadata?.deletionTimestamp === undefined;
}

/** Whether a stack or another controller of this operator has made it. */
export function isOurs(live: KubeObject): boolean {
  return isMarked(live, OWNER.labels) || live.metadata?.annotations?.[APPLIED_HASH_ANNOTATION] !== undefined;
}

/** As a component has it that does not write it. @param live with only its name if `isMissing` */
export function observedObject({ resource }: StandIn, live: KubeObject, isMissing = false): ObservedObject {
  const { namespace = '', name = '' } = live.metadata ?? {};
  const typed = { apiVersion: apiVersionOf(resource), kind: resource.kind };
  return {
    resource,
    object: { ...typed, metadata: { namespace, name } },
    // It is not applied.
    hash: '',
    isCurrent: false,
    live: isMissing ? undefined : { ...typed, ...live },
  };
}
