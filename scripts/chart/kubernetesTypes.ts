/**
 * Reads the types of the chart's objects from the sources of older Kubernetes releases, for the chart tests:
 *
 *   node scripts/chart/kubernetesTypes.ts
 *
 * Run it by hand when the project moves to a newer Kubernetes; a test fails when it is due. Needs Go, which downloads
 * k8s.io/kubernetes as a module.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { JsonSchema } from '../structuralSchema.ts';

/** The newest patch releases of the two minor versions before the one that the tests run. */
const RELEASES = ['v1.34.4', 'v1.35.4'];
const DIRECTORY = new URL('../../test/chart/testdata/', import.meta.url);

/** The kinds that the chart may render, by API document. */
const KINDS: Readonly<Record<string, readonly string[]>> = {
  'api/v1': ['ConfigMap', 'Namespace', 'Service', 'ServiceAccount'],
  'apis/admissionregistration.k8s.io/v1': [
    'MutatingWebhookConfiguration',
    'ValidatingAdmissionPolicy',
    'ValidatingAdmissionPolicyBinding',
  ],
  'apis/apiextensions.k8s.io/v1': ['CustomResourceDefinition'],
  'apis/apps/v1': ['Deployment'],
  'apis/batch/v1': ['Job'],
  'apis/flowcontrol.apiserver.k8s.io/v1': ['FlowSchema'],
  'apis/networking.k8s.io/v1': ['NetworkPolicy'],
  'apis/policy/v1': ['PodDisruptionBudget'],
  'apis/rbac.authorization.k8s.io/v1': ['ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding'],
};

type Types = Record<string, JsonSchema>;
interface OpenApiDocument {
  components: { schemas: Types };
}

/** The types of these kinds in an OpenAPI document and the types that they reference, without descriptions. */
function typesOf(document: OpenApiDocument, kinds: readonly string[]): Types {
  const { schemas } = document.components;
  const found = new Map<string, JsonSchema>();
  const visit = (name: string): void => {
    if (found.has(name)) return;
    const type = withoutText(schemas[name]!);
    found.set(name, type);
    for (const [, next = ''] of JSON.stringify(type).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) visit(next);
  };
  for (const kind of kinds) visit(nameOf(schemas, kind));
  return Object.fromEntries(found);
}

function nameOf(schemas: Types, kind: string): string {
  const isKind = (type: JsonSchema): boolean =>
    (type['x-kubernetes-group-version-kind'] as { kind: string }[] | undefined)?.some((each) => each.kind === kind) ??
    false;
  const found = Object.entries(schemas).find(([, type]) => isKind(type));
  if (!found) throw new Error(`the document has no kind ${kind}`);
  return found[0];
}

/** A description is a string; a property of that name is a schema. */
function withoutText(schema: JsonSchema): JsonSchema {
  const isText = (key: string, value: unknown): boolean => key === 'description' && typeof value === 'string';
  const text = JSON.stringify(schema, (key, value: unknown) => (isText(key, value) ? undefined : value));
  return JSON.parse(text) as JsonSchema;
}

function sourceOf(release: string): string {
  const text = execFileSync('go', ['mod', 'download', '-json', `k8s.io/kubernetes@${release}`], { encoding: 'utf8' });
  return (JSON.parse(text) as { Dir: string }).Dir;
}

if (import.meta.main) {
  mkdirSync(DIRECTORY, { recursive: true });
  for (const release of RELEASES) {
    const source = sourceOf(release);
    const types: Types = {};
    for (const [path, kinds] of Object.entries(KINDS)) {
      const file = `${source}/api/openapi-spec/v3/${path.replaceAll('/', '__')}_openapi.json`;
      const document = JSON.parse(readFileSync(file, 'utf8')) as OpenApiDocument;
      Object.assign(types, typesOf(document, kinds));
    }
    const sorted = Object.fromEntries(Object.entries(types).sort(([a], [b]) => (a < b ? -1 : 1)));
    const [minor = ''] = /^v\d+\.\d+/.exec(release) ?? [];
    const content = `${JSON.stringify({ kubernetes: release, types: sorted }, null, 1)}\n`;
    writeFileSync(new URL(`kubernetes-${minor}.json`, DIRECTORY), content);
  }
}
