/** The rules for the enablement of an integration for a creditor: its statuses, and which may follow which. */
import type { EnablementStatus } from '@creditlane/proto/integrations/v1/enablement_service';
import { conflict } from '@creditlane/rpc/fault';
import { FieldFaults } from '@creditlane/rpc/field-faults';

/** The name of a status, as in the REST interface. */
export type EnablementStatusName = Exclude<keyof typeof EnablementStatus, 'UNSPECIFIED'>;

/** The enablement that the row of a grant on a creditor holds. */
export interface Enablement {
  /** Undefined until a status is set for the first time. */
  readonly status: EnablementStatusName | undefined;
  /** Why the integration is disabled; undefined in every other status. */
  readonly reason: string | undefined;
  readonly setAt: Date | undefined;
}

/** What an integration asks for: to be enabled, to be disabled, or one of the statuses that it may set. */
export interface EnablementChange {
  readonly status: EnablementStatusName;
  /** Only for DISABLED, and optional there. */
  readonly reason?: string | undefined;
}

/** Refuses a reason that cannot be stored. Throws the Fault `invalid_reason`. */
export function checkReason(reason: string): void {
  const faults = new FieldFaults();
  faults.checkStorable('/reason', reason);
  faults.throwIfAny('invalid_reason');
}

/**
 * The enablement after the change. Only a requested enablement can be enabled; every other status may
 * follow every status, itself included.
 *
 * @throws Fault `integration_not_requested`
 */
export function changeEnablement(
  { status: current }: Pick<Enablement, 'status'>,
  { status, reason }: EnablementChange,
  setAt: Date,
): Enablement {
  if (status === 'ENABLED' && current !== 'REQUESTED') {
    const found = current === undefined ? 'no status was set' : `the status is ${current}`;
    throw conflict(
      'integration_not_requested',
      `Only an integration in status REQUESTED can be enabled, and ${found}.`,
    );
  }
  return { status, reason: status === 'DISABLED' ? reason : undefined, setAt };
}
