import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { V1CustomResourceDefinition } from '@kubernetes/client-node';
import { parse } from 'yaml';

const run = promisify(execFile);
/** The lab's module that pins OpenShift's API: external-dns reads Routes. */
const MODULE = fileURLToPath(new URL('../lab/modules/external-dns', import.meta.url));
const CRD = 'security/v1/zz_generated.crd-manifests/0000_03_config-operator_01_securitycontextconstraints.crd.yaml';

/** OpenShift's own CRD of SecurityContextConstraints, as the Go module of its API has it. */
export async function securityContextConstraintsCrd(): Promise<V1CustomResourceDefinition> {
  const { stdout } = await run('go', ['mod', 'download', '-json', 'github.com/openshift/api'], { cwd: MODULE });
  const { Dir } = JSON.parse(stdout) as { Dir: string };
  return parse(await readFile(join(Dir, CRD), 'utf8')) as V1CustomResourceDefinition;
}
