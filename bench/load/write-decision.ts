import { DECISION } from './decision-body.ts';

/** A submission, and the API key that may record decisions on it. */
export interface WritableSubmission {
  key: string;
  applicationId: string;
  creditorId: string;
}

/** Records a decision whose conditions begin with the marker. Throws when the platform refuses it. */
export async function writeDecision(
  baseUrl: string,
  { key, applicationId, creditorId }: WritableSubmission,
  marker: string,
): Promise<void> {
  const path = `/applications/${applicationId}/creditors/${creditorId}/decision`;
  const response = await fetch(baseUrl + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      ...DECISION,
      applicationId,
      conditions: `${marker} ${DECISION.conditions}`,
    }),
  });
  if (!response.ok) throw new Error(`a decision was answered ${response.status}`);
  await response.arrayBuffer();
}
