import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, vi } from 'vitest';
import { TRAFFIC_WATCHES } from '../../src/api/trafficwatch/schema.ts';
import { ApiError } from '../../src/runtime/client/errors.ts';
import { resourcePath, type KubeObject } from '../../src/runtime/client/resource.ts';
import { DEPLOYMENTS } from '../../src/runtime/client/resources.ts';
import { startControlPlane, type ControlPlane } from '../harness/controlPlane.ts';
import { established } from '../harness/customResource.ts';
import { outcomeOf } from '../harness/execute.ts';
import { connect, type Connected } from '../harness/runtimeScene.ts';
import { binary } from '../lab/binaries.ts';

const CRD = fileURLToPath(new URL('../../deploy/crds/traffic.example.com_trafficwatches.yaml', import.meta.url));

/** The answer of kubectl or the API server. */
export interface Answer {
  readonly ok: boolean;
  /** For kubectl: standard output and error output, to which it prints warnings and errors. For the API server: the reason of a refusal. */
  readonly text: string;
}

/** A real API server with the CRD, and kubectl. */
export interface CrdPlane {
  /** @param input what it reads from its standard input, as JSON */
  readonly kubectl: (args: readonly string[], input?: object) => Promise<Answer>;
  /** The same request without the process that kubectl needs for each: the answer to a dry run of the creation, unknown fields refused. */
  readonly dryRun: (object: KubeObject) => Promise<Answer>;
}

/** Starts a control plane with the CRD of deploy/ before the tests of the file, and ends it after them. */
export function useCrdPlane(): CrdPlane {
  let plane: ControlPlane | undefined;
  let connected: Connected | undefined;
  let program = '';

  const scene: CrdPlane = {
    kubectl: (args, input) =>
      outcomeOf(program, [`--kubeconfig=${plane!.kubeconfig}`, ...args], { input: input && JSON.stringify(input) }),
    dryRun: async (object) => {
      const resource = object.kind === DEPLOYMENTS.kind ? DEPLOYMENTS : TRAFFIC_WATCHES;
      const path = resourcePath(resource, { namespace: 'default' });
      const query = { dryRun: 'All', fieldValidation: 'Strict' };
      try {
        await connected!.transport.request({ method: 'POST', path, query, body: object });
        return { ok: true, text: '' };
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        return { ok: false, text: error.detail };
      }
    },
  };

  beforeAll(async () => {
    program = await binary('kubectl');
    plane = await startControlPlane();
    connected = connect(plane);
    // Client-side apply, as most users do: the object must fit into an annotation of 256 KiB.
    expect(await scene.kubectl(['apply', '-f', CRD])).toMatchObject({ ok: true });
    await established(scene.kubectl, ['-f', CRD]);
    await vi.waitFor(async () => expect(await scene.dryRun(trafficWatch({}))).toMatchObject({ ok: true }), 90_000);
  });
  afterAll(async () => {
    await connected?.transport.close();
    await plane?.stop();
  });
  return scene;
}

export const pod = { containers: [{ name: 'web', image: 'web:1' }] };

/** A DeploymentSpec with this PodSpec. */
export function deploymentSpec(podSpec: object, metadata: object = {}) {
  const labels = { app: 'web' };
  return { selector: { matchLabels: labels }, template: { metadata: { labels, ...metadata }, spec: podSpec } };
}

/** A TrafficWatch that is valid but for these fields of its spec. */
export function trafficWatch(spec: object, name = 'sample'): KubeObject & { spec: object } {
  return {
    apiVersion: 'traffic.example.com/v1alpha1',
    kind: 'TrafficWatch',
    metadata: { name },
    spec: { maxBandwidthPercent: '60', deployment: deploymentSpec(pod), ...spec },
  };
}
