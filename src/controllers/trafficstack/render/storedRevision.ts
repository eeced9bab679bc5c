import type { V1ControllerRevision } from '@kubernetes/client-node';
import type { TrafficStack } from '../../../api/trafficstack/trafficStack.ts';
import { appliedHash } from '../../../runtime/apply/difference.ts';
import { apiVersionOf, type KubeObject } from '../../../runtime/client/resource.ts';
import { CONTROLLER_REVISIONS } from '../../../runtime/client/resources.ts';
import { isKind, resourceOfKind } from './kinds.ts';
import { metadataOf, type DesiredObject } from './objects.ts';

/** A stored revision of a component that was ready. */
export interface StoredRevision {
  readonly live: KubeObject;
  /** The number, highest for the latest revision. */
  readonly number: number;
  /** The revision as in the status of the component. */
  readonly revision: string;
  /** The objects as they were applied. */
  readonly objects: readonly DesiredObject[];
}

/** The content of a ControllerRevision. */
interface Content {
  readonly revision: string;
  /** The field manager of all objects; undefined: FIELD_MANAGER. */
  readonly fieldManager?: string | undefined;
  readonly objects: readonly KubeObject[];
}

/** A ControllerRevision, which may be of another owner. */
interface Stored extends KubeObject {
  readonly revision: number;
  readonly data?: Content;
}

/** A component to be stored. */
interface Source {
  readonly name: string;
  readonly namespace: string;
  readonly revision: string;
  readonly objects: readonly DesiredObject[];
}

/** Returns the ControllerRevision of a component. Its name ends with a hash of its data, which the API server keeps immutable. */
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

/** Returns the content of a ControllerRevision. Undefined if its name has another hash: another owner has created it again. */
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
