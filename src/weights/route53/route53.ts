import {
  ListResourceRecordSetsCommand,
  Route53Client,
  Route53ServiceException,
  type ListResourceRecordSetsCommandOutput,
  type ListResourceRecordSetsRequest,
  type ResourceRecordSet,
} from '@aws-sdk/client-route-53';
import { zoneOf } from '../zone/recordSets.ts';
import type { ZoneRead, ZoneReader } from '../zone/zoneReader.ts';

/** Of the partition `aws`, whose Route 53 has one endpoint for all of its regions. */
const DEFAULT_REGION = 'us-east-1';
/** Attempts of the SDK at one request, with a backoff between them: an account has 5 requests a second for all its programs. */
const ATTEMPTS = 5;
/** Milliseconds. */
const CONNECT_MS = 2_000;
const ANSWER_MS = 10_000;
const ANSWER = { requestTimeout: ANSWER_MS, throwOnRequestTimeout: true, socketTimeout: ANSWER_MS };

/**
 * Hosted zones of Route 53. Credentials are those that the AWS SDK finds; the right is route53:ListResourceRecordSets. The zones
 * are in the partition of the variable AWS_REGION, which EKS sets: another one in China.
 */
export class Route53 implements ZoneReader {
  readonly #client: Route53Client;

  /** @param endpointUrl in place of the one of the partition */
  constructor(endpointUrl: string | undefined) {
    this.#client = new Route53Client({
      region: process.env.AWS_REGION ?? DEFAULT_REGION,
      ...(endpointUrl !== undefined && { endpoint: endpointUrl }),
      maxAttempts: ATTEMPTS,
      requestHandler: { connectionTimeout: CONNECT_MS, ...ANSWER },
    });
  }

  async read(id: string, signal: AbortSignal): Promise<ZoneRead> {
    const sets: ResourceRecordSet[] = [];
    let requests = 0;
    let from: Omit<ListResourceRecordSetsRequest, 'HostedZoneId'> | undefined = {};
    while (from !== undefined) {
      const page: ListResourceRecordSetsCommandOutput = await this.#list({ HostedZoneId: id, ...from }, signal);
      sets.push(...(page.ResourceRecordSets ?? []));
      from = nextOf(page);
      requests += 1;
    }
    return { zone: zoneOf(id, sets), requests };
  }

  close(): void {
    this.#client.destroy();
  }

  /** Only the name of an error is told: messages of AWS may have the ID of an access key. */
  async #list(
    request: ListResourceRecordSetsRequest,
    signal: AbortSignal,
  ): Promise<ListResourceRecordSetsCommandOutput> {
    try {
      return await this.#client.send(new ListResourceRecordSetsCommand(request), { abortSignal: signal });
    } catch (error) {
      const name = error instanceof Error ? error.name : 'unknown error';
      const answered = error instanceof Route53ServiceException ? 'answered' : 'did not answer:';
      throw new Error(`Route 53 (hosted zone ${request.HostedZoneId}) ${answered} ${name}`, { cause: error });
    }
  }
}

/** Where the next page begins; undefined if this was the last one. */
function nextOf(
  page: ListResourceRecordSetsCommandOutput,
): Omit<ListResourceRecordSetsRequest, 'HostedZoneId'> | undefined {
  const { IsTruncated, NextRecordName, NextRecordType, NextRecordIdentifier } = page;
  if (IsTruncated !== true) return undefined;
  return {
    StartRecordName: NextRecordName,
    StartRecordType: NextRecordType,
    StartRecordIdentifier: NextRecordIdentifier,
  };
}
