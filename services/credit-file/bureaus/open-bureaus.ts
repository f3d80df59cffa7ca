/** Opens the bureaus that the settings describe: for each its format and its client. */
import { invalid } from '@creditlane/rpc/fault';
import type { Process } from '@creditlane/runtime/run';
import type { BureauCredentials } from '../bureau-credentials/sealed-credentials.ts';
import type { Inquiry, Source } from './bureau.ts';
import type { BureauSettings } from './bureau-settings.ts';
import { equifaxFormat } from './equifax/equifax-format.ts';
import { BureauClient } from './transport/bureau-client.ts';
import type { BureauHostRules } from './transport/bureau-hosts.ts';
import type { InquiryOutcome } from './transport/inquiry-outcome.ts';
import { transUnionFormat } from './transunion/transunion-format.ts';

/** Sends an inquiry with the retailer's credentials. */
export type SendInquiry = (
  inquiry: Inquiry,
  credentials: BureauCredentials,
) => Promise<InquiryOutcome>;

export interface Bureaus {
  inquire: SendInquiry;
  /** Throws an `invalid` Fault with code `bureau_not_configured` for a bureau that the settings do not describe. */
  requireConfigured(source: Source): void;
  /** Where inquiries may be sent to. */
  hostRules: BureauHostRules;
  /** Sends no further inquiry, and resolves once those under way have ended, within the drain time. */
  close(): Promise<void>;
}

export function openBureaus(
  { egress, hosts, codeTables, partialDateDay, ...settings }: BureauSettings,
  { log, metrics }: Pick<Process, 'log' | 'metrics'>,
): Bureaus {
  const { deadlineMs, maxConnections, failuresToOpen, transUnion: account } = settings;
  const hostRules = { ...egress, hosts };
  const shared = { hostRules, deadlineMs, maxConnections, failuresToOpen, log, metrics };
  const values = { tables: codeTables.equifax, partialDateDay };
  const equifax = new BureauClient({
    ...shared,
    format: equifaxFormat({ ...settings.equifax, ...values }),
  });
  const hasTransUnion = account.requestTemplate !== '';
  if (!hasTransUnion) log.info('TransUnion is not asked: TRANSUNION_REQUEST_TEMPLATE is not set');
  const transUnion = hasTransUnion
    ? new BureauClient({
        ...shared,
        format: transUnionFormat({ ...account, ...values, tables: codeTables.transUnion }),
      })
    : undefined;
  return {
    hostRules,
    requireConfigured(source) {
      if (source === 'EQUIFAX' || hasTransUnion) return;
      throw invalid('bureau_not_configured', `The platform is not set up for ${source}.`);
    },
    async inquire(inquiry, credentials) {
      if (credentials.source === 'EQUIFAX') return equifax.inquire(inquiry, credentials.value);
      if (transUnion === undefined) return { kind: 'never_sent', reason: 'not_configured' };
      return transUnion.inquire(inquiry, credentials.value);
    },
    async close() {
      await Promise.all([equifax.close(), transUnion?.close()]);
    },
  };
}
