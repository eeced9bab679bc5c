import * as z from 'zod';
import type { Resource } from '../runtime/client/resource.ts';

/** A column of `kubectl get`. A column with a priority above 0 appears only with `-o wide`. */
interface PrinterColumn {
  name: string;
  type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  jsonPath: string;
  priority?: number;
}

/** Returns the path of a condition's status or reason, for a column. */
export function conditionPath(type: string, field: 'status' | 'reason' = 'status'): string {
  return `.status.conditions[?(@.type=="${type}")].${field}`;
}

/** A custom resource of the operator, from which its CRD is generated. */
export interface CustomResource {
  resource: Resource;
  /** The whole object: apiVersion, kind, metadata, spec, status. */
  schema: z.ZodType;
  singular: string;
  shortNames: string[];
  categories: string[];
  columns: PrinterColumn[];
  /** False if the status is written together with the spec. Default: it is a subresource. */
  hasStatusSubresource?: boolean;
  /** True if only the operator writes objects of the kind: consoles hide it, and it has no sample. */
  isInternal?: boolean;
}

/**
 * Returns the CRD of a kind, a V1CustomResourceDefinition. Marks in the zod meta of a schema name the part of `deploymentSpec`,
 * a structural schema, that replaces it; the description stays.
 *
 * | mark                      | replaced by                                                                   |
 * |---------------------------|-------------------------------------------------------------------------------|
 * | `x-deployment-spec: true` | `deploymentSpec`                                                              |
 * | `x-deployment-spec: PATH` | the field PATH of it, such as `strategy`                                      |
 * | `x-pod-template: true`    | its pod template                                                              |
 * | `x-pod-template: PATH`    | the field PATH of its pod template, such as `spec.tolerations.items`          |
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
        // The API server drops an empty list, and each apply would send it again.
        ...(shortNames.length > 0 && { shortNames }),
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
    ...(kind.hasStatusSubresource === false ? {} : { subresources: { status: {} } }),
    schema: { openAPIV3Schema: openApiSchema(kind.schema, deploymentSpec) },
  };
}

/** The OpenAPI schema of a kind, as in its CRD. */
export function openApiSchema(schema: z.ZodType, deploymentSpec: object): object {
  return z.toJSONSchema(schema, {
    target: 'openapi-3.0',
    io: 'input',
    reused: 'inline',
    // z.custom has no JSON schema. Only its meta is used.
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      replaceMarked(jsonSchema, 'x-deployment-spec', (path) => fieldOf(deploymentSpec, path));
      replaceMarked(jsonSchema, 'x-pod-template', (path) => fieldOf(deploymentSpec, ['template', ...path]));
    },
  });
}

function replaceMarked(jsonSchema: object, mark: string, schemaOf: (path: readonly string[]) => object): void {
  if (!(mark in jsonSchema)) return;
  const path = (jsonSchema as Record<string, unknown>)[mark];
  Reflect.deleteProperty(jsonSchema, mark);
  const schema = schemaOf(typeof path === 'string' ? path.split('.').filter(Boolean) : []);
  Object.assign(jsonSchema, { ...schema, ...jsonSchema });
}

/** The schema of a field; `items` leads to the items of a list. */
function fieldOf(schema: object, [name, ...path]: readonly string[]): object {
  if (name === undefined) return schema;
  const { properties, items } = schema as { properties?: Record<string, object>; items?: object };
  const field = name === 'items' ? items : properties?.[name];
  if (field === undefined) throw new Error(`the stored schema has no field ${name}`);
  return fieldOf(field, path);
}

/** How to install the CRDs of this version, for messages. */
export const APPLY_CRD = 'helm upgrade with crds.enabled=true, or kubectl apply --server-side -k deploy/crds';
