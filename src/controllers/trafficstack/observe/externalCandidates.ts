import type { ComponentMode, ComponentType } from '../../../api/trafficstack/terms.ts';
import type { UsedObject } from '../../../api/trafficstack/trafficStack.ts';
import type { Placement } from '../../../nodes/nodeAffinity.ts';
import { APPLIED_HASH_ANNOTATION } from '../../../runtime/apply/difference.ts';
import { apiVersionOf, keyOf, type KubeObject } from '../../../runtime/client/resource.ts';
import { idOf, isMarked } from '../../../runtime/objectSet/objectSet.ts';
import type { ExternalProvider } from '../../contract/builtIn.ts';
import { OWNER } from '../../contract/labels.ts';
import type { Candidate } from '../model/external.ts';
import type { ObservedComponent, ObservedObject } from '../model/observation.ts';
import type { DesiredObject } from '../render/objects.ts';
import type { ForeignReader } from './foreignObjects.ts';
import type { NodeListeners, ServerProbes } from './probes.ts';

/** The inputs of the search for the external object of a built-in component. */
export interface Seeking {
  /** Undefined: the component cannot use an external object. */
  readonly externalProvider: ExternalProvider | undefined;
  readonly mode: ComponentMode | undefined;
  /** The workload that the stack would create; undefined if there is none. */
  readonly own: DesiredObject | undefined;
  /** The only object to read. Undefined: search. */
  readonly named: UsedObject | undefined;
  /** Types of earlier components that use an external object. */
  readonly used: ReadonlySet<ComponentType>;
  /** How long a found object may take to start, such as `10m`. */
  readonly patience: string;
  /** True if that time has passed. */
  readonly isOver: boolean;
  /** ms since 1970 */
  readonly now: number;
}

/** The sources of a search. */
export interface Sources {
  readonly foreignObjects: Pick<ForeignReader, 'read' | 'list'>;
  readonly probes: Pick<ServerProbes, 'proof'>;
  readonly listeners: Pick<NodeListeners, 'ask'>;
  /** Returns the number of measurable nodes on which pods with a placement run. */
  readonly measurable: (placement?: Placement) => number;
}

/** The external object of a component, or `unproven`: the object that it does not use. */
export type Found =
  | (Pick<ObservedComponent, 'objects' | 'external'> & { readonly unproven?: never })
  | (Pick<ObservedComponent, 'unproven'> & { readonly objects?: never; readonly external?: never });

export type SeekingProvider = Seeking & { readonly externalProvider: ExternalProvider };

export const OUTSIDE = 'is in a namespace that --discovery-namespace (discovery.namespaces in the chart) does not name';

/** Returns candidates that are outside of the allowed namespaces. */
export function refused(outside: readonly KubeObject[]): Candidate<KubeObject>[] {
  return outside.map((live) => ({ live, proof: { is: 'Unproven', lack: OUTSIDE } }));
}

/** Explains why the component has its own objects. Undefined if no candidate was rejected. */
export function ownInsteadOf(
  externalProvider: ExternalProvider,
  candidate: Candidate<KubeObject> | undefined,
): Found | undefined {
  if (candidate === undefined || candidate.proof.is === 'Proven') return undefined;
  return { unproven: `${idOf(observedObject(externalProvider, candidate.live))} ${candidate.proof.lack}` };
}

/** Returns a candidate that has time to start. The component deploys nothing meanwhile. */
export function awaiting(
  { externalProvider, patience }: SeekingProvider,
  { live, proof }: Candidate<KubeObject>,
): Found {
  const object = observedObject(externalProvider, live);
  const lack = proof.is === 'Proven' ? '' : proof.lack;
  const awaited = `${idOf(object)} ${lack}: the operator waits ${patience} for it, then deploys its own; to have that at once, set the mode Managed`;
  return { objects: [object], external: { sought: externalProvider.sought, awaited } };
}

export function refOf({ namespace, name }: UsedObject): KubeObject {
  return { metadata: { namespace, name } };
}

/** Splits the matching objects by the allowed namespaces, sorted by namespace and name. */
export function matching(
  all: readonly KubeObject[],
  externalProvider: ExternalProvider,
  used: Seeking['used'],
): { readonly inside: readonly KubeObject[]; readonly outside: readonly KubeObject[] } {
  const found = all
    .filter((live) => isCandidate(live) && externalProvider.matches(live, used))
    .sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  const isInside = ({ metadata }: KubeObject): boolean => mayBeIn(externalProvider, metadata?.namespace);
  return { inside: found.filter(isInside), outside: found.filter((live) => !isInside(live)) };
}

/** Returns whether an object may be in a namespace. @param namespace empty for a node, which is in none */
export function mayBeIn({ namespaces = [] }: ExternalProvider, namespace = ''): boolean {
  return namespaces.length === 0 || namespace === '' || namespaces.includes(namespace);
}

/** Returns whether a search is limited to some namespaces. A program on the nodes has no namespace. */
export function isLimited({ namespaces = [] }: ExternalProvider): boolean {
  return namespaces.length > 0;
}

/** Returns whether a search may find an object. It ignores objects that are being deleted. */
function isCandidate(live: KubeObject): boolean {
  return !isOurs(live) && live.metadata?.deletionTimestamp === undefined;
}

/** Returns whether a stack or another controller of this operator made an object. */
export function isOurs(live: KubeObject): boolean {
  return isMarked(live, OWNER.labels) || live.metadata?.annotations?.[APPLIED_HASH_ANNOTATION] !== undefined;
}

/** Returns a live object as part of a component that does not write it. @param live with only its name if `isMissing` */
export function observedObject({ resource }: ExternalProvider, live: KubeObject, isMissing = false): ObservedObject {
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
