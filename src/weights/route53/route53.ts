import {
  ListResourceRecordSetsCommand,
  Route53Client,
  Route53ServiceException,
  type ListResourceRecordSetsCommandOutput,
  type ListResourceRecordSetsRequest,
} from '@aws-sdk/client-route-53';
import type { PageStart, ZonePage, ZoneReader } from '../zone/zoneReader.ts';

/** Of the partition `aws`, whose Route 53 has one endpoint for all of its regions. */
const DEFAULT_REGION = 'us-east-1';
/** Attempts of the SDK at one request, with a backoff between them. */
const ATTEMPTS = 3;
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
    const { AWS_REGION = '' } = process.env;
    this.#client = new Route53Client({
      region: AWS_REGION === '' ? DEFAULT_REGION : AWS_REGION,
      ...(endpointUrl !== undefined && { endpoint: endpointUrl }),
      maxAttempts: ATTEMPTS,
      requestHandler: { connectionTimeout: CONNECT_MS, ...ANSWER },
    });
  }

  async page(id: string, from: PageStart | undefined, signal: AbortSignal): Promise<ZonePage> {
    const page = await this.#list({ HostedZoneId: id, ...from }, signal);
    return { sets: page.ResourceRecordSets ?? [], next: page.IsTruncated === true ? nextOf(page) : undefined };
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

function nextOf({
  NextRecordName,
  NextRecordType,
  NextRecordIdentifier,
}: ListResourceRecordSetsCommandOutput): PageStart {
  return {
    StartRecordName: NextRecordName,
    StartRecordType: NextRecordType,
    StartRecordIdentifier: NextRecordIdentifier,
  };
}
