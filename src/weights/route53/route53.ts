import {
  ListResourceRecordSetsCommand,
  Route53Client,
  Route53ServiceException,
  type ListResourceRecordSetsCommandOutput,
  type ListResourceRecordSetsRequest,
} from '@aws-sdk/client-route-53';
import type { PageStart, ZonePage, ZoneReader } from '../zone/recordSets.ts';

/** A region of the partition `aws`. Its Route 53 has one endpoint for all regions. */
const DEFAULT_REGION = 'us-east-1';
/** Attempts of the SDK at one request, with a backoff between them. */
const ATTEMPTS = 3;
/** Milliseconds. */
const CONNECT_MS = 2_000;
const ANSWER_MS = 10_000;
const ANSWER = { requestTimeout: ANSWER_MS, throwOnRequestTimeout: true, socketTimeout: ANSWER_MS };

/**
 * Reads hosted zones of Route 53. The AWS SDK finds the credentials; they need the permission route53:ListResourceRecordSets. The
 * variable AWS_REGION, which EKS sets, selects the partition of the zones: China has its own.
 */
export class Route53 implements ZoneReader {
  readonly #client: Route53Client;

  /** @param endpointUrl URL of Route 53; undefined: the endpoint of the partition */
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

  /** Puts only the name of an AWS error into messages: its text may contain the ID of an access key. */
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
