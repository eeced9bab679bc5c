import { isNotFound, type ApiError } from '../client/errors.ts';
import { resourceName, type Resource } from '../client/resource.ts';
import type { Logger } from '../process/logger.ts';

interface MissingCrdOptions {
  readonly resource: Resource;
  readonly logger: Logger;
  /** The program that waits for the CRD: 'the operator'. */
  readonly waiting: string;
  /** How to install the CRD, for the log message. */
  readonly advice: string;
}

/**
 * Returns a function for `onRefusal` of an informer: logs once when the API server does not serve the resource, and once when it does
 * again. The reflector tries again after 1 s, then after pauses that double up to 30 s.
 */
export function logMissingCrd({ resource, logger, waiting, advice }: MissingCrdOptions) {
  const crd = resourceName(resource);
  let wasMissing = false;
  return (refusal: ApiError | undefined): void => {
    const isMissing = isNotFound(refusal);
    if (isMissing === wasMissing) return;
    wasMissing = isMissing;
    if (isMissing) logger.error({ crd }, `the CRD is not installed, and ${waiting} waits for it: ${advice}`);
    else logger.info({ crd }, 'the CRD is installed');
  };
}
