import * as z from 'zod';
import type { KubeObject } from '../../runtime/client/resource.ts';
import { patternSchema } from '../fieldSchemas.ts';
import { isObject, LABEL } from './podSchemas.ts';

const MOST_MANIFESTS = 50;
const LONGEST_EXPRESSION = 4_096;

const manifest = z
  .object({
    object: z.custom<KubeObject & Record<string, unknown>>(isObject, 'must be an object').meta({
      ...{ type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
      description:
        'The object, with apiVersion, kind and metadata.name. Its kind is one that stacks.objectKinds of the chart allows. metadata has only name, namespace, labels and annotations.',
    }),
    readyWhen: z
      .string()
      .min(1)
      .max(LONGEST_EXPRESSION)
      .optional()
      .meta({
        description:
          'CEL that returns true or false, over the live object, and self, components and common as in config files. Such as ' +
          '"object.status.phase == \'Running\'". Default: as its kind says; else its condition Ready or Available is True, if it has one.',
      }),
  })
  .meta({ description: 'One object.' });

/** Schema of `spec.components[].objects`. */
export const objectsSchema = z
  .object({
    namespace: patternSchema('Namespace of the objects. It must exist.', LABEL),
    manifests: z.array(manifest).min(1).max(MOST_MANIFESTS).meta({
      description: 'The objects, in the order of their creation.',
      'x-kubernetes-list-type': 'atomic',
    }),
  })
  .optional()
  .meta({ description: 'Objects of kinds that the administrator allows, for the type Objects.' });
