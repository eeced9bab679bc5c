import * as z from 'zod';
import type { Resource } from '../runtime/client/resource.ts';

/** A column of `kubectl get`; a priority above 0 shows it with `-o wide` only. */
export interface PrinterColumn {
  name: string;
  type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  jsonPath: string;
  priority?: number;
}

/** One kind of ours: what its CRD is generated from. */
export interface CustomResource {
  resource: Resource;
  /** The whole object: apiVersion, kind, metadata, spec, status. */
  schema: z.ZodType;
  singular: string;
  shortNames: string[];
  categories: string[];
  columns: PrinterColumn[];
}

/**
 * The CRD of a kind, a V1CustomResourceDefinition. `x-deployment-spec: true` in the zod schema's meta is replaced by `deploymentSpec`, a structural
 * schema, which keeps the description given beside it.
 */
export function customResourceDefinition(kind: CustomResource, deploymentSpec: object): object {
  const { resource, singular, shortNames, categories } = kind;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${resource.plural}.${resource.group}` },
    spec: {
      group: resource.group,
      scope: resource.namespaced ? 'Namespaced' : 'Cluster',
      names: {
        kind: resource.kind,
        listKind: `${resource.kind}List`,
        plural: resource.plural,
        singular,
        shortNames,
        categories,
      },
      versions: [version(kind, deploymentSpec)],
    },
  };
}

function version(kind: CustomResource, deploymentSpec: object) {
  return {
    name: kind.resource.version,
    served: true,
    storage: true,
    additionalPrinterColumns: kind.columns,
    subresources: { status: {} },
    schema: { openAPIV3Schema: openApiSchema(kind.schema, deploymentSpec) },
  };
}

/** The schema of a kind as its CRD has it. */
export function openApiSchema(schema: z.ZodType, deploymentSpec: object): object {
  return z.toJSONSchema(schema, {
    target: 'openapi-3.0',
    io: 'input',
    reused: 'inline',
    // z.custom has no JSON schema of its own: its meta is all there is.
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      if (!('x-deployment-spec' in jsonSchema)) return;
      delete jsonSchema['x-deployment-spec'];
      Object.assign(jsonSchema, { ...deploymentSpec, ...jsonSchema });
    },
  });
}
