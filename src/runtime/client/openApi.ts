import { isNotFound } from './errors.ts';
import { apiVersionOf, type Resource } from './resource.ts';
import type { Transport } from './transport.ts';

/** The part of a schema object (OpenAPI 3.0) that determines which fields the API server keeps. */
export interface JsonSchema {
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly items?: JsonSchema;
  readonly additionalProperties?: JsonSchema | boolean;
  /** True if the API server also keeps fields that are not in `properties`. */
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
}

/** The published schema of a kind, and a version text that changes with the schema. */
export interface PublishedSchema {
  readonly schema: JsonSchema;
  readonly version: string;
}

interface Index {
  paths?: Record<string, { serverRelativeURL?: string } | undefined>;
}

interface Document {
  components?: { schemas?: Record<string, DefinedSchema | undefined> };
}

interface DefinedSchema extends JsonSchema {
  readonly 'x-kubernetes-group-version-kind'?: readonly { group?: string; version?: string; kind?: string }[];
}

/**
 * Reads the schema of a kind from the OpenAPI documents that every authenticated client may read (ClusterRole
 * system:discovery): https://kubernetes.io/docs/concepts/overview/kubernetes-api/#openapi-v3. The document itself,
 * some hundred KiB, is read only if the index shows a change.
 *
 * @param before result of the previous call
 * @returns undefined if the schema is not published, for example in the first second after the CRD was created
 * @throws ApiError (403 if that right was revoked), TransportError
 */
export async function readPublishedSchema(
  transport: Pick<Transport, 'request'>,
  resource: Resource,
  before?: PublishedSchema,
  signal?: AbortSignal,
): Promise<PublishedSchema | undefined> {
  try {
    const index = await transport.request<Index>({ method: 'GET', path: '/openapi/v3', signal });
    const url = index.paths?.[`apis/${apiVersionOf(resource)}`]?.serverRelativeURL;
    if (url === undefined) return undefined;
    if (url === before?.version) return before;
    const path = `/openapi/v3/apis/${apiVersionOf(resource)}`;
    const document = await transport.request<Document>({ method: 'GET', path, signal });
    const schema = Object.values(document.components?.schemas ?? {}).find((each) => isOf(each, resource));
    return schema === undefined ? undefined : { schema, version: url };
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

function isOf(schema: DefinedSchema | undefined, { group, version, kind }: Resource): boolean {
  const kinds = schema?.['x-kubernetes-group-version-kind'] ?? [];
  return kinds.some((each) => each.group === group && each.version === version && each.kind === kind);
}
