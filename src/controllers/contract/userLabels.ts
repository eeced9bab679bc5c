import type { V1Deployment, V1ObjectMeta } from '@kubernetes/client-node';
import type { KubeObject } from '../../runtime/client/resource.ts';
import type { BuiltIn } from './builtIn.ts';
import type { SharedFlags } from './flags.ts';

type Given = Pick<SharedFlags, 'objectLabel' | 'podLabel' | 'podAnnotation'>;

/** A built-in component whose objects and pods have the labels and annotations of the flags besides their own, which take precedence. */
export function withUserLabels(builtIn: BuiltIn, given: Given): BuiltIn {
  const labels = Object.fromEntries(given.objectLabel);
  const ofPods = { labels: Object.fromEntries(given.podLabel), annotations: Object.fromEntries(given.podAnnotation) };
  return {
    ...builtIn,
    render: (...settings) =>
      builtIn.render(...settings).map(({ object, ...each }) => ({
        ...each,
        object: withPods({ ...object, metadata: below({ labels }, object.metadata) }, ofPods),
      })),
  };
}

function withPods(object: KubeObject, ofPods: V1ObjectMeta): KubeObject {
  const { spec } = object as Pick<V1Deployment, 'spec'>;
  if (spec?.template === undefined) return object;
  const template = { ...spec.template, metadata: below(ofPods, spec.template.metadata) };
  return { ...object, spec: { ...spec, template } } as KubeObject;
}

/** The metadata with these labels and annotations where it has none of the key. Equal to `own` if there are none. */
function below({ labels, annotations }: V1ObjectMeta, own: V1ObjectMeta = {}): V1ObjectMeta {
  const merged = (given: Record<string, string> = {}, has?: Record<string, string>) =>
    Object.keys(given).length === 0 ? has : { ...given, ...has };
  const [allLabels, allAnnotations] = [merged(labels, own.labels), merged(annotations, own.annotations)];
  return { ...own, ...(allLabels && { labels: allLabels }), ...(allAnnotations && { annotations: allAnnotations }) };
}
