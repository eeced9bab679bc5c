import type { KubeObject } from '../runtime/client/resource.ts';
import { Interner } from '../runtime/process/interner.ts';

/** Node annotation with the capacity of the node's network, such as "25Gbit". */
const CAPACITY_ANNOTATION = 'traffic.example.com/capacity';
/** How many are kept for sharing: one for each instance type or kind of machine. */
const MOST_SHARED = 256;

/**
 * The capacity of a node's network that the Node, or a TrafficWatch about it, states, not parsed. Nodes with the same
 * statement share one object.
 */
export interface StatedCapacity {
  readonly source: 'Spec' | 'Annotation' | 'Label';
  /** The key of the annotation or label, or the field of the spec. */
  readonly key: string;
  readonly text: string;
}

/** The capacity that this value of the annotation states. */
export function annotated(text: string): StatedCapacity {
  return { source: 'Annotation', key: CAPACITY_ANNOTATION, text };
}

/**
 * Creates a function that reads the capacity that a Node states; undefined if it states none. The annotation comes
 * first, because a person sets it. A value that cannot be parsed counts too: it must be corrected, not skipped.
 *
 * @param label key of the label with the capacity; undefined if no label has it
 */
export function createCapacityReader(label?: string): (node: KubeObject) => StatedCapacity | undefined {
  const shared = new Interner<StatedCapacity>({ most: MOST_SHARED });
  return ({ metadata }) => {
    const annotation = metadata?.annotations?.[CAPACITY_ANNOTATION];
    if (annotation !== undefined) return shared.share(annotated(annotation));
    const text = label === undefined ? undefined : metadata?.labels?.[label];
    return label === undefined || text === undefined ? undefined : shared.share({ source: 'Label', key: label, text });
  };
}
