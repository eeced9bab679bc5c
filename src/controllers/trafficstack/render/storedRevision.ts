import type { V1ControllerRevision } from '@kubernetes/client-node';
import type { TrafficStack } from '../../../api/trafficstack/trafficStack.ts';
import { appliedHash } from '../../../runtime/apply/difference.ts';
import { apiVersionOf, type KubeObject } from '../../../runtime/client/resource.ts';
import { CONTROLLER_REVISIONS } from '../../../runtime/client/resources.ts';
import { isKind, resourceOfKind } from './kinds.ts';
import { metadataOf, type DesiredObject } from './objects.ts';

/** A revision of a component, with which it was ready, as it is stored in a ControllerRevision. */
export interface StoredRevision {
  readonly live: KubeObject;
  /** The latest one has the highest. */
  readonly number: number;
  /** As in the status of the component. */
  readonly revision: string;
  /** Exactly those that were applied. */
  readonly objects: readonly DesiredObject[];
}

/** What is stored. */
interface Content {
  readonly revision: string;
  /** That of all its objects; absent: that of stacks. */
  readonly fieldManager?: string | undefined;
  readonly objects: readonly KubeObject[];
}

/** A ControllerRevision as it is read: somebody else may have made it. */
interface Stored extends KubeObject {
  readonly revision: number;
  readonly data?: Content;
}

/** A component whose objects are stored. */
interface Source {
  readonly name: string;
  readonly namespace: string;
  readonly revision: string;
  readonly objects: readonly DesiredObject[];
}

/**
 * The ControllerRevision of a component. Its name ends with a hash of what is stored, since the API server lets nobody change the data
 * of one.
 */
export function controllerRevisionOf(stack: TrafficStack, component: Source, number: number): KubeObject {
  const { name, namespace, revision, objects } = component;
  const data: Content = {
    ...{ revision, fieldManager: objects[0]?.fieldManager },
    objects: objects.map(({ object }) => object),
  };
  const object: V1ControllerRevision = {
    ...{ apiVersion: apiVersionOf(CONTROLLER_REVISIONS), kind: CONTROLLER_REVISIONS.kind },
    metadata: metadataOf(stack, name, { name: `${name}-${hashOf(data)}`, namespace }),
    ...{ revision: number, data },
  };
  return object;
}

/** What a ControllerRevision stores. Undefined if it is not what its name says: somebody has made it anew. */
export function storedIn(live: KubeObject): StoredRevision | undefined {
  const { metadata, revision: number, data: content } = live as Stored;
  if (content === undefined || metadata?.name?.endsWith(`-${hashOf(content)}`) !== true) return undefined;
  const { revision, fieldManager, objects } = content;
  // One of a newer operator may have others.
  if (!objects.every(({ kind }) => isKind(kind))) return undefined;
  return { live, number, revision, objects: objects.map((object) => desired(object, fieldManager)) };
}

function desired(object: KubeObject, fieldManager: string | undefined): DesiredObject {
  return { resource: resourceOfKind(object.kind ?? ''), object, fieldManager };
}

function hashOf(data: Content): string {
  return appliedHash({ data } as KubeObject);
}
