import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
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

const TESTDATA = new URL('testdata/', import.meta.url);

/** The types of an API, by name. */
export type Types = Readonly<Record<string, JsonSchema>>;

/** An older release of Kubernetes, and the types of it that the chart uses: scripts/chart/kubernetesTypes.ts. */
export interface Release {
  kubernetes: string;
  types: Types;
}

/** The releases that no API server runs here for, the oldest first. */
export async function olderReleases(): Promise<Release[]> {
  const names = (await readdir(TESTDATA)).filter((name) => name.startsWith('kubernetes-')).sort();
  return Promise.all(names.map(async (name) => JSON.parse(await readFile(new URL(name, TESTDATA), 'utf8')) as Release));
}

/**
 * The types that an API server says it has: built-in types, types of CRDs, or both.
 *
 * @param get answers a path of the API server with its body
 * @param paths which of its documents, such as apis/apps/v1
 */
export async function typesOfServer(get: (path: string) => Promise<string>, paths: RegExp): Promise<Types> {
  const documents = JSON.parse(await get('/openapi/v3')) as { paths: Record<string, unknown> };
  const types: Record<string, JsonSchema> = {};
  for (const path of Object.keys(documents.paths).filter((each) => paths.test(each))) {
    const document = JSON.parse(await get(`/openapi/v3/${path}`)) as OpenApiDocument;
    Object.assign(types, document.components?.schemas);
  }
  return types;
}

/**
 * Writes types as JSON schemas for kubeconform, since the published ones would have to be downloaded: one file a kind,
 * named as kubeconform's `-schema-location` pattern below asks, with the types that the kind needs. kubeconform reads a
 * file with all types again for each kind, which takes 0.1 s.
 *
 * @returns the value of `-schema-location`
 */
export async function writeSchemas(directory: string, types: Types): Promise<string> {
  await mkdir(directory, { recursive: true });
  const texts = new Map(Object.entries(types).map(([name, type]) => [name, JSON.stringify(strict(type))]));
  for (const [name, type] of Object.entries(types)) {
    const kinds = (type['x-kubernetes-group-version-kind'] ?? []) as GroupVersionKind[];
    // Types of many kinds, such as DeleteOptions, are no objects.
    if (kinds.length !== 1 || name.endsWith('List')) continue;
    const needed = [...namesNeeded(name, texts)].map((each) => `${JSON.stringify(each)}:${texts.get(each)}`);
    const schema = `{"$ref":"#/definitions/${name}","definitions":{${needed.join()}}}`;
    await writeFile(join(directory, fileOf(kinds[0]!)), schema);
  }
  return join(directory, '{{.ResourceKind}}{{.KindSuffix}}.json');
}

/** The names of a type and of all types that it refers to, directly or not. @param texts of the types, by name */
function namesNeeded(name: string, texts: ReadonlyMap<string, string>, found = new Set<string>()): Set<string> {
  if (found.has(name)) return found;
  found.add(name);
  for (const [, next = ''] of texts.get(name)!.matchAll(/"#\/definitions\/([^"]+)"/g)) namesNeeded(next, texts, found);
  return found;
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
