import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonSchema } from '../../scripts/structuralSchema.ts';

interface OpenApiDocument {
  components?: { schemas?: Record<string, JsonSchema> };
}

interface GroupVersionKind {
  group: string;
  version: string;
  kind: string;
}

const DEFINITIONS = 'definitions.json';

/**
 * Writes JSON schemas for kubeconform from what an API server says of its types, since the published ones would have to
 * be downloaded: one file a kind, named as kubeconform's `-schema-location` pattern below asks, and one with all types.
 *
 * @param get answers a path of the API server with its body
 * @returns the value of `-schema-location`
 */
export async function writeSchemas(directory: string, get: (path: string) => Promise<string>): Promise<string> {
  await mkdir(directory, { recursive: true });
  const { paths } = JSON.parse(await get('/openapi/v3')) as { paths: Record<string, unknown> };
  const types: Record<string, JsonSchema> = {};
  for (const path of Object.keys(paths).filter((each) => /^(api\/v1|apis\/.+\/v[^/]+)$/.test(each))) {
    const document = JSON.parse(await get(`/openapi/v3/${path}`)) as OpenApiDocument;
    Object.assign(types, document.components?.schemas);
  }
  const definitions = Object.fromEntries(Object.entries(types).map(([name, type]) => [name, strict(type)]));
  await writeFile(join(directory, DEFINITIONS), JSON.stringify({ definitions }));
  for (const [name, type] of Object.entries(types)) {
    for (const kind of (type['x-kubernetes-group-version-kind'] ?? []) as GroupVersionKind[]) {
      await writeFile(join(directory, fileOf(kind)), JSON.stringify({ $ref: `${DEFINITIONS}#/definitions/${name}` }));
    }
  }
  return join(directory, '{{.ResourceKind}}{{.KindSuffix}}.json');
}

function fileOf({ group, version, kind }: GroupVersionKind): string {
  // {{.KindSuffix}} is '-v1' for the core group, and '-rbac-v1' for rbac.authorization.k8s.io.
  const prefix = group === '' ? '' : `-${group.split('.', 1)[0]}`;
  return `${kind.toLowerCase()}${prefix}-${version}.json`;
}

/** JSON schema as kubeconform reads it, with no room for fields that the type does not have. */
function strict(schema: JsonSchema): JsonSchema {
  const text = JSON.stringify(schema, (_key, value: unknown) => {
    const isClosed = isSchema(value) && value.properties !== undefined && value.additionalProperties === undefined;
    return isClosed ? { ...value, additionalProperties: false } : value;
  });
  return JSON.parse(text.replaceAll('#/components/schemas/', '#/definitions/')) as JsonSchema;
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && 'type' in value && value.type === 'object';
}
