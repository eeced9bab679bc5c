import type { KubeObject } from '../../runtime/client/resource.ts';

/** Helm writes it on what it installs, and not on what `helm template` renders. */
const RELEASE_ANNOTATION = 'meta.helm.sh/release-name';
/** kubectl writes it on what it applies from the client's side. */
const APPLIED_ANNOTATION = 'kubectl.kubernetes.io/last-applied-configuration';
/** Field managers of programs that apply rendered manifests. They do not know what a hook of helm is. */
const APPLIERS = /^(kubectl|kustomize|argocd|flux)/;

/** What is on the cluster when the clean-up of a release begins. Undefined: it does not exist. */
export interface Found {
  /** The Deployment of the operator. */
  readonly deployment: KubeObject | undefined;
  /** The Job that runs the clean-up. */
  readonly job: KubeObject | undefined;
}

/**
 * Why helm does not remove the release, for users; undefined if helm removes it. The hooks of a chart are in the output of
 * `helm template` too, and whoever applies that output starts the Job of the clean-up together with the operator.
 *
 * @param release name of the release of helm
 */
export function whyNotRemoved(release: string, { deployment, job }: Found): string | undefined {
  const applier = job && applierOf(job);
  if (applier !== undefined) return `the Job was applied by ${applier}, not by helm`;
  const owner = deployment?.metadata?.annotations?.[RELEASE_ANNOTATION];
  if (deployment === undefined || owner === release) return undefined;
  const name = `the Deployment ${deployment.metadata?.namespace ?? ''}/${deployment.metadata?.name ?? ''}`;
  return owner === undefined
    ? `${name} was not installed by helm`
    : `${name} belongs to the release ${owner} of helm, not to ${release}`;
}

function applierOf({ metadata }: KubeObject): string | undefined {
  const manager = metadata?.managedFields?.find((entry) => APPLIERS.test(entry.manager ?? ''))?.manager;
  return manager ?? (metadata?.annotations?.[APPLIED_ANNOTATION] === undefined ? undefined : 'kubectl');
}
