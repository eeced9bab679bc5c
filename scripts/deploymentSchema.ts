/**
 * Reads the schema of a DeploymentSpec from a running API server and stores it as input of the CRD generator:
 *
 *   kubectl get --raw /openapi/v3/apis/apps/v1 | node scripts/deploymentSchema.ts
 *
 * Run it by hand when the project moves to a newer Kubernetes; an integration test fails when it is due.
 */
import { writeFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { type JsonSchema, structuralSchema } from './structuralSchema.ts';

/** Content of the file: the schema and its Kubernetes release. */
export interface StoredSchema {
  kubernetes: string;
  schema: JsonSchema;
}

export const STORED = new URL('../src/api/trafficwatch/deploymentSpec.schema.json', import.meta.url);

/** Converts the document that an API server serves at /openapi/v3/apis/apps/v1. */
export function storedSchema(document: string): StoredSchema {
  const { info, components } = JSON.parse(document) as {
    info: { version: string };
    components: { schemas: Record<string, JsonSchema> };
  };
  return {
    kubernetes: info.version,
    schema: structuralSchema(components.schemas, 'io.k8s.api.apps.v1.DeploymentSpec'),
  };
}

if (import.meta.main) {
  writeFileSync(STORED, `${JSON.stringify(storedSchema(await text(process.stdin)), null, 1)}\n`);
}
