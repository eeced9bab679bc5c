import { readFileSync } from 'node:fs';
import type { V1CustomResourceDefinition } from '@kubernetes/client-node';
import { stringify } from 'yaml';
import { customResourceDefinition, type CustomResource } from '../../src/api/crd.ts';
import type { Resource } from '../../src/runtime/client/resource.ts';
import type { ControllerModule } from '../../src/controllers/contract/module.ts';
import { CONTROLLERS } from '../../src/controllers/registry.ts';
import { STORED, type StoredSchema } from '../deploymentSchema.ts';
import type { GeneratedFile } from './file.ts';

const HEADER = '# Generated from src/api by `make generate`. Do not edit.\n';

/** The API group of this operator. */
const OWN_GROUP = 'traffic.example.com';

/**
 * Kinds whose CRDs the chart has only with a value. Helm refuses a CRD that another tool created, and users of
 * k8s-netchecker have the CRD of Agents.
 */
const NEEDED_WITH: Readonly<Record<string, string>> = {
  Agent: '.Values.connectivity.enabled',
  TrafficWeight: '.Values.weights.enabled',
};

/** The CRDs, as plain manifests for `kubectl apply` and as chart templates. */
export function crds(controllers: readonly ControllerModule[] = CONTROLLERS): GeneratedFile[] {
  return customResourceDefinitions(controllers).flatMap(({ kind, crd, file }) => {
    const text = manifest(crd);
    return [
      { path: `deploy/crds/${file}`, content: HEADER + text },
      { path: `charts/traffic-operator/templates/crds/${file}`, content: HEADER + chartTemplate(kind, text) },
    ];
  });
}

/** A kind with its CRD and the name of the file of the CRD. */
export interface GeneratedCrd {
  kind: CustomResource;
  crd: V1CustomResourceDefinition;
  file: string;
}

/** The CRDs of all kinds. */
export function customResourceDefinitions(controllers: readonly ControllerModule[] = CONTROLLERS): GeneratedCrd[] {
  const { schema } = JSON.parse(readFileSync(STORED, 'utf8')) as StoredSchema;
  return controllers
    .flatMap(({ kinds }) => kinds)
    .map((kind) => ({
      kind,
      crd: customResourceDefinition(kind, schema) as V1CustomResourceDefinition,
      file: fileOf(kind),
    }));
}

/** The CRD of a kind for a cluster without the operator. */
export function serverCrd(kind: CustomResource): object {
  return customResourceDefinition(kind, {});
}

/** The file names of all CRDs. */
export function crdFiles(): string[] {
  return CONTROLLERS.flatMap(({ kinds }) => kinds).map(fileOf);
}

function fileOf({ resource }: CustomResource): string {
  return `${resource.group}_${resource.plural}.yaml`;
}

/** The manifest with the conditions on chart values. Throws if helm would read parts of it as a template. */
function chartTemplate({ resource }: CustomResource, text: string): string {
  if (text.includes('{{')) throw new Error('the CRD has {{ in it, which helm would take for its own');
  const value = NEEDED_WITH[resource.kind];
  const keep = 'annotations:\n    helm.sh/resource-policy: keep';
  const marked = text.replace(
    /^metadata:\n/m,
    `metadata:
  labels:
    {{- include "traffic-operator.labels" . | nindent 4 }}
  ${isForeign(resource) ? keep : `{{- if .Values.crds.keep }}\n  ${keep}\n  {{- end }}`}
`,
  );
  const condition = value === undefined ? '.Values.crds.enabled' : `and .Values.crds.enabled ${value}`;
  return `{{- if ${condition} }}\n${marked}{{- end }}\n`;
}

/** Whether other programs also use the kind. An uninstallation then never deletes it, nor their objects. */
function isForeign({ group }: Resource): boolean {
  return group !== OWN_GROUP;
}

/** YAML 1.1 parsers, such as the parser of the API server, read a bare `y` or `on` as true: such keys are quoted. */
export function manifest(object: unknown): string {
  return stringify(object, { version: '1.1', lineWidth: 0, aliasDuplicateObjects: false });
}
