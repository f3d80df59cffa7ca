/** Opens the bureaus that the settings enable: for each its format and its client. */
import { readFile } from 'node:fs/promises';
import { invalid } from '@creditlane/rpc/fault';
import type { Process } from '@creditlane/runtime/run';
import { observeCertificateExpiry } from '@creditlane/runtime/telemetry/certificate-expiry';
import type { BureauCredentials } from '../bureau-credentials/sealed-credentials.ts';
import type { Source } from './bureau.ts';
import type { BureauSettings } from './bureau-settings.ts';
import { equifaxFormat } from './equifax/equifax-format.ts';
import { BureauClient, type PendingInquiry } from './transport/bureau-client.ts';
import type { BureauHostRules } from './transport/bureau-hosts.ts';
import { type InquiryOutcome, neverSent, type Withdrawn } from './transport/inquiry-outcome.ts';
import { transUnionFormat } from './transunion/transunion-format.ts';

/** Sends an inquiry with the retailer's credentials; see `BureauClient.inquire`. */
export type SendInquiry = <Instead>(
  pending: PendingInquiry<Instead>,
  credentials: BureauCredentials,
) => Promise<InquiryOutcome | Withdrawn<Instead>>;

export interface Bureaus {
  inquire: SendInquiry;
  /** Throws an `invalid` Fault with code `bureau_not_configured` for a bureau that is not enabled. */
  requireConfigured(source: Source): void;
  /** Where inquiries may be sent to. */
  hostRules: BureauHostRules;
  /** Sends no further inquiry, and resolves once those that were sent have ended, within BUREAU_DEADLINE. */
  close(): Promise<void>;
}

export function openBureaus(
  { enabled, egress, hosts, codeTables, partialDateDay, ...settings }: BureauSettings,
  { log, metrics }: Pick<Process, 'log' | 'metrics'>,
): Bureaus {
  const { deadlineMs, maxConnections, failuresToOpen } = settings;
  const { clientCertificate } = settings.transUnion;
  const hostRules = { ...egress, hosts };
  const shared = { hostRules, deadlineMs, maxConnections, failuresToOpen, log, metrics };
  const equifax = enabled.includes('EQUIFAX')
    ? new BureauClient({
        ...shared,
        format: equifaxFormat({ ...settings.equifax, tables: codeTables.equifax, partialDateDay }),
      })
    : undefined;
  const transUnion = enabled.includes('TRANSUNION')
    ? new BureauClient({
        ...shared,
        clientCertificate,
        format: transUnionFormat({
          ...settings.transUnion,
          tables: codeTables.transUnion,
          partialDateDay,
        }),
      })
    : undefined;
  if (transUnion !== undefined && clientCertificate !== undefined) {
    // The file that new connections read.
    observeCertificateExpiry(metrics, 'transunion', () => readFile(clientCertificate.cert));
  }
  log.info({ enabled }, 'the bureaus that are asked');
  return {
    hostRules,
    requireConfigured(source) {
      if (enabled.includes(source)) return;
      throw invalid('bureau_not_configured', `The platform is not set up for ${source}.`);
    },
    async inquire(pending, credentials) {
      const outcome =
        credentials.source === 'EQUIFAX'
          ? equifax?.inquire(pending, credentials.value)
          : transUnion?.inquire(pending, credentials.value);
      return outcome ?? neverSent('not_configured');
    },
    async close() {
      await Promise.all([equifax?.close(), transUnion?.close()]);
    },
  };
}
