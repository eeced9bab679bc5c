import type { ConnectivityOptions } from '../../connectivity/objects/names.ts';

/** How the controller deploys the connectivity check. */
export interface DeploymentOptions extends ConnectivityOptions {
  /** False: nothing of it is deployed, and it is removed if it exists. */
  readonly enabled: boolean;
  /** Whether the operator creates the TrafficStack `default`. Default: true. */
  readonly hasDefaultStack?: boolean;
  /** File with the CA of the server, PEM. Given with tlsSecretName. */
  readonly serverCaFile?: string | undefined;
}
