/** The bureau that an inquiry was sent to. */
export type Source = 'EQUIFAX' | 'TRANSUNION';

/** An inquiry that a bureau has received, as far as its answer repeats it. */
export interface ReceivedInquiry {
  source: Source;
  /** The retailer's own reference; "" without one. Other fields that a request lacks are "", too. */
  reference: string;
  /** The number of the inquiry within its request. */
  requestNumber: string;
  /** The number by which the bureau knows the retailer. */
  member: string;
  firstName: string;
  lastName: string;
  sin: string;
  /** yyyy-MM-dd. */
  dateOfBirth: string;
  /** The day of the inquiry, yyyy-MM-dd. */
  date: string;
}
