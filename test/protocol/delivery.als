/*
 * From intake to the receiver: the deliveries of one destination, in lanes.
 *
 * Processes share the table of deliveries. A process leases what is due, sends it and records the result; the
 * transaction that ends a delivery, or its hold, makes the next one of the lane due. The intake inserts new
 * deliveries meanwhile, at the end of their lanes. A process may stop for ever, or for longer than its leases,
 * between any two steps; row locks and commits are steps of their own.
 *
 * A trace begins with any table that the steps can have left behind, with requests under way, so that few steps
 * reach what follows from a long history. README.md names the function behind each step.
 */
module delivery
open util/ordering[Delivery]

sig Lane {}

/** A row. Within a lane, the order of the atoms is that of `position`. */
sig Delivery {
  lane: one Lane,
  /** The process whose lease has the row's fence. */
  var owner: lone Process,
}
/** The states of rows. A delivery in none of them is not inserted yet. */
var sig Waiting, Due, Delivered, Dead in Delivery {}
/** Later deliveries of the lane wait while one with `holding` is pending. */
var sig Holding in Delivery {}
/** A request was sent at least once. */
var sig Tried in Delivery {}
/** At least one failure is recorded, so that the hold ends some time. */
var sig Failed in Delivery {}
/** A success was recorded by a process that had lost the lease. */
var sig LateSuccess in Delivery {}
var sig Replayed in Delivery {}

sig Process {
  /** Leased and not sent yet. */
  var queue: set Delivery,
  /** Requests under way, and of these the ones during which the process was stopped. */
  var sending, interrupted: set Delivery,
  /** Results that are not recorded yet: 2xx, 410, and all others. */
  var succeeded, gone, refused: set Delivery,
  /** The rows that its open transaction has locked. */
  var locked: set Delivery,
  /** The row whose hold the open transaction ends. */
  var endingHold: lone Delivery,
  /** The rows whose results the open transaction records, or that it ends to a disabled destination. */
  var recording, ending: set Delivery,
  /** The rows that the open transaction has promoted, and of these the ones that it leases. */
  var promoting, leasing: set Delivery,
}
/** Their open transactions have promoted what is next, and only commit now. */
var sig Promoted in Process {}
/** Suspended: its leases end meanwhile. */
var sig Stopped in Process {}

/** The intake's open transaction: what it inserts, in which state, and the row that it has locked. */
one sig Intake {
  var inserting, insertingDue, locking: lone Delivery,
}

one sig Destination {}
var lone sig Disabled in Destination {}

/** Only some checks let users replay deliveries that have ended. */
lone sig Replays {}

/** Seeded bugs. Each is found by a check below. */
abstract sig Bug {}
lone sig IntakeWithoutLock, DueInBusyLane, LaterNotLocked, EarlierEndedFirst, PromotionBeforeDisabling,
  LeaseWithoutFence extends Bug {}

fun pending: set Delivery { Waiting + Due }
fun inserted: set Delivery { pending + Delivered + Dead }
fun earlier[d: Delivery]: set Delivery { d.prevs & lane.(d.lane) }
/** The rows that keep the later ones of their lanes waiting. */
fun holders: set Delivery { pending & Holding }
fun firstHolder[l: Lane]: lone Delivery { { d: holders & lane.l | no earlier[d] & holders } }

pred rowsStay { Waiting' = Waiting and Due' = Due and Delivered' = Delivered and Dead' = Dead and Holding' = Holding
  Failed' = Failed and LateSuccess' = LateSuccess }
pred tableStays { rowsStay and owner' = owner and Tried' = Tried and Replayed' = Replayed and Disabled' = Disabled }
pred intakeStays { inserting' = inserting and insertingDue' = insertingDue and locking' = locking }
pred transactionStays[p: Process] {
  p.locked' = p.locked and p.endingHold' = p.endingHold and p.recording' = p.recording and p.ending' = p.ending
  p.promoting' = p.promoting and p.leasing' = p.leasing and (p in Promoted' iff p in Promoted)
}
pred noTransaction[p: Process] {
  no p.locked' + p.endingHold' + p.recording' + p.ending' + p.promoting' + p.leasing' and p not in Promoted'
}
pred resultsStay[p: Process] { p.succeeded' = p.succeeded and p.gone' = p.gone and p.refused' = p.refused }
pred requestsStay[p: Process] { p.sending' = p.sending and p.interrupted' = p.interrupted }
pred processStays[p: Process] {
  p.queue' = p.queue and requestsStay[p] and resultsStay[p] and transactionStays[p] and (p in Stopped' iff p in Stopped)
}
pred only[p: Process] { all other: Process - p | processStays[other] }
/** No other transaction has locked any of the rows. */
pred free[rows: set Delivery, p: Process] { no rows & ((Process - p).locked + Intake.locking) }

/* The intake. */

/** Reads the lane, and locks the row that the new delivery will wait behind. */
pred plan[d: Delivery] {
  no Disabled and no Intake.inserting and d not in inserted and earlier[d] in inserted
  let first = firstHolder[d.lane] {
    some IntakeWithoutLock or free[first, none]
    inserting' = Intake -> d
    insertingDue' = Intake -> ((no first or some DueInBusyLane) => d else none)
    locking' = Intake -> (some IntakeWithoutLock => none else first)
  }
  tableStays
  all p: Process | processStays[p]
}

/** Inserts the delivery and commits. A process may lease it at once when it is due. */
pred insert {
  some Intake.inserting
  Waiting' = Waiting + (Intake.inserting - Intake.insertingDue)
  Due' = Due + Intake.insertingDue and Holding' = Holding + Intake.inserting
  Delivered' = Delivered and Dead' = Dead and Failed' = Failed and LateSuccess' = LateSuccess
  no inserting' + insertingDue' + locking'
  owner' = owner and Tried' = Tried and Replayed' = Replayed and Disabled' = Disabled
  all p: Process | processStays[p]
}

/* Processes that send. */

/** Leases a delivery that is due. A lease ends only while its process is stopped; a lock is skipped. */
pred claim[p: Process, d: Delivery] {
  p not in Stopped and d in Due and free[d, p] and d not in p.locked
  no Disabled and (no d.owner or d.owner in Stopped)
  owner' = owner ++ d -> p
  d not in p.sending + p.succeeded + p.gone + p.refused => p.queue' = p.queue + d else p.queue' = p.queue
  requestsStay[p] and resultsStay[p] and transactionStays[p] and p not in Stopped'
  only[p] and rowsStay and intakeStays and Tried' = Tried and Replayed' = Replayed and Disabled' = Disabled
}

pred send[p: Process, d: Delivery] {
  p not in Stopped and d in p.queue
  p.queue' = p.queue - d and p.sending' = p.sending + d and p.interrupted' = p.interrupted
  Tried' = Tried + d
  resultsStay[p] and transactionStays[p] and p not in Stopped'
  only[p] and rowsStay and intakeStays and owner' = owner and Replayed' = Replayed and Disabled' = Disabled
}

pred answer[p: Process, d: Delivery] {
  p not in Stopped and d in p.sending
  p.sending' = p.sending - d and p.interrupted' = p.interrupted - d
  (p.succeeded' = p.succeeded + d and p.gone' = p.gone and p.refused' = p.refused)
    or (p.succeeded' = p.succeeded and p.gone' = p.gone + d and p.refused' = p.refused)
    or (p.succeeded' = p.succeeded and p.gone' = p.gone and p.refused' = p.refused + d)
  p.queue' = p.queue and transactionStays[p] and p not in Stopped'
  only[p] and tableStays and intakeStays
}

fun results[p: Process]: set Delivery { p.succeeded + p.gone + p.refused }

/** A transaction that records the results of a process begins. */
pred beginRecording[p: Process] {
  some results[p]
  begin[p, results[p]]
  p.recording' = results[p] and no p.endingHold' + p.ending'
}

/** A transaction that ends the hold of a delivery begins, because the delivery has been failing for too long. */
pred beginEndingHold[p: Process, d: Delivery] {
  d in Due & Holding & Failed
  begin[p, d]
  p.endingHold' = d and no p.recording' + p.ending'
}

/**
 * Waits for the locks of the rows and, in the lanes of rows that were replayed, of the later ones that are due: two
 * transactions that end two holders of a lane must see one another.
 */
pred begin[p: Process, rows: set Delivery] {
  p not in Stopped and no p.locked
  p.locked' = rows + (some LaterNotLocked => none else { l: Due & Holding | some d: rows & Replayed | d in earlier[l] })
  free[p.locked', p]
  beginsOnly[p]
}

/** The due deliveries that no later one of their lane keeps from ending in a slice. */
fun lastDue: set Delivery {
  some EarlierEndedFirst => Due else Due - { d: Replayed | some later: Due & Holding | d in earlier[later] }
}

/**
 * A slice of what waits, or of what is due, to a disabled destination is to end: those that nobody has locked. A
 * transaction that ends a replayed delivery locks the later one, too, so a slice ends the later one first.
 */
pred beginSlice[p: Process] {
  p not in Stopped and no p.locked and some Disabled
  let unlocked = pending - Process.locked - Intake.locking {
    (p.locked' = unlocked & Waiting) or (p.locked' = unlocked & lastDue)
  }
  some p.locked' and p.ending' = p.locked' and no p.recording' + p.endingHold'
  beginsOnly[p]
}

pred beginsOnly[p: Process] {
  no p.promoting' + p.leasing' and p not in Promoted'
  p.queue' = p.queue and requestsStay[p] and resultsStay[p] and p not in Stopped'
  only[p] and tableStays and intakeStays
}

/** The results that count: a success without a lease, any other result only with it. */
fun counted[p: Process]: set Delivery { some LeaseWithoutFence => p.recording else p.recording & owner.p }
fun delivers[p: Process]: set Delivery { p.recording & p.succeeded - Delivered }
fun kills[p: Process]: set Delivery { counted[p] & p.gone & pending + p.ending }
pred disables[p: Process] { some p.recording & p.gone }

/**
 * In each lane of the transaction, the first delivery that holds it becomes due, if it waits; it is leased unless the
 * destination is disabled. The statement sees what other transactions have committed before it.
 */
pred promote[p: Process] {
  p not in Stopped and some p.locked and p not in Promoted
  let left = holders - delivers[p] - kills[p] - p.endingHold, lanes = (p.recording + p.endingHold + p.ending).lane {
    p.promoting' = { n: left & Waiting | n.lane in lanes and no earlier[n] & left }
  }
  free[p.promoting', p]
  p.leasing' = ((some Disabled or (disables[p] and no PromotionBeforeDisabling)) => none else p.promoting')
  p in Promoted' and p.locked' = p.locked + p.promoting'
  p.recording' = p.recording and p.endingHold' = p.endingHold and p.ending' = p.ending
  p.queue' = p.queue and requestsStay[p] and resultsStay[p] and p not in Stopped'
  only[p] and tableStays and intakeStays
}

/** The transaction commits. A process that finds the destination gone removes its deliveries from the queue. */
pred commit[p: Process] {
  p not in Stopped and p in Promoted
  let again = counted[p] & p.refused & Due {
    Delivered' = Delivered + delivers[p]
    Dead' = Dead - delivers[p] + kills[p]
    Waiting' = Waiting - p.promoting - kills[p]
    Due' = Due + p.promoting - delivers[p] - kills[p]
    Holding' = Holding - p.endingHold
    Failed' = Failed + again
    LateSuccess' = LateSuccess + (delivers[p] - owner.p)
    owner' = owner - (again + delivers[p] + kills[p]) -> Process + p.leasing -> p
  }
  p.queue' = (disables[p] => none else p.queue) + p.leasing
  Disabled' = (disables[p] => Destination else Disabled)
  p.succeeded' = p.succeeded - p.recording and p.gone' = p.gone - p.recording and p.refused' = p.refused - p.recording
  Tried' = Tried and Replayed' = Replayed
  noTransaction[p] and requestsStay[p] and p not in Stopped'
  only[p] and intakeStays
}

/** The process is suspended. Its open transaction goes on when it does. */
pred stop[p: Process] {
  p not in Stopped and p in Stopped' and no p.locked
  p.interrupted' = p.sending
  p.queue' = p.queue and p.sending' = p.sending and resultsStay[p] and transactionStays[p]
  only[p] and tableStays and intakeStays
}

/** The process goes on. What it had leased and not sent, it sends only if the leases have not ended by its clock. */
pred resume[p: Process] {
  p in Stopped and p not in Stopped'
  p.queue' = p.queue & owner.p
  requestsStay[p] and resultsStay[p] and transactionStays[p]
  only[p] and tableStays and intakeStays
}

/** The process dies: its transaction is rolled back, and its leases end. */
pred crash[p: Process] {
  no p.queue' and no p.sending' and no p.interrupted' and no p.succeeded' and no p.gone' and no p.refused'
  noTransaction[p] and p not in Stopped'
  owner' = owner - Delivery -> p
  only[p] and rowsStay and intakeStays and Tried' = Tried and Replayed' = Replayed and Disabled' = Disabled
}

/** A user replays a delivery that has ended: it takes its former place in the lane. */
pred replay[d: Delivery] {
  some Replays and no Disabled and d in Delivered + Dead and free[d, none]
  let ahead = earlier[d] & holders, first = { f: ahead | no earlier[f] & ahead } {
    free[first, none]
    Waiting' = Waiting + (some first => d else none)
    Due' = Due + (some first => none else d)
  }
  Delivered' = Delivered - d and Dead' = Dead - d and Holding' = Holding + d and Failed' = Failed - d
  LateSuccess' = LateSuccess - d and owner' = owner - d -> Process and Replayed' = Replayed + d
  intakeStays and Tried' = Tried and Disabled' = Disabled
  all p: Process | processStays[p]
}

pred nothing {
  tableStays and intakeStays
  all p: Process | processStays[p]
}

fact Steps {
  // The table at the beginning.
  all d: Waiting | some Due & Holding & lane.(d.lane)
  Waiting in Holding
  all d: Waiting - Replayed | no d.nexts & lane.(d.lane) & (Due + Delivered + Dead) - Replayed
  no Waiting & (Due + Delivered + Dead) and no Due & (Delivered + Dead) and no Delivered & Dead
  all d: inserted | earlier[d] in inserted
  all d: Due & Holding | earlier[d] & Due & Holding in Replayed
  Failed in Tried & inserted and Delivered in Tried and Due - Holding in Failed and Holding in inserted
  all d: Due + Tried | earlier[d] in Tried + Dead
  no LateSuccess and no Stopped and no inserting + insertingDue + locking
  owner in Due -> Process and no queue + interrupted + gone + locked + endingHold
  no recording + ending + promoting + leasing and no Promoted
  no Replays implies no Replayed
  sending + succeeded + refused = ~owner and no sending & (succeeded + refused) and no succeeded & refused
  owner.Process in Tried
  always {
    nothing or insert
    or (some d: Delivery | plan[d] or replay[d])
    or (some p: Process | beginRecording[p] or beginSlice[p] or promote[p] or commit[p] or stop[p] or resume[p] or crash[p])
    or (some p: Process, d: Delivery | claim[p, d] or send[p, d] or answer[p, d] or beginEndingHold[p, d])
  }
}

/** In the lane of whatever waits, a delivery is due, so that its end makes the next one due. */
assert NoLaneWaitsForEver {
  always all d: Waiting | some Due & Holding & lane.(d.lane)
}

/** The first request for a delivery follows those for all earlier ones of its lane, unless these are dead. */
assert FirstRequestsGoInSequence {
  always all p: Process, d: Delivery - Tried | send[p, d] implies earlier[d] in Tried + Dead
}

/** The transaction that finds the destination gone leases none of its deliveries. */
assert NothingIsLeasedToTheDisabled { always all p: Process | commit[p] and disables[p] implies no p.queue' }

/** Only a request that was under way when its process stopped is repeated: while it is under way, or after its success. */
assert NothingIsSentTwice {
  always all p: Process, d: Delivery | send[p, d] implies {
    all other: Process | d in other.sending implies d in other.interrupted
    d in Delivered implies d in LateSuccess
  }
}

check NoLaneWaitsForEver for 3 but 1 Lane, 2 Process, 0 Bug, 7..7 steps expect 0 // large: for 4 but 2 Lane, 2 Process, 0 Bug, 9..9 steps
check FirstRequestsGoInSequence for 3 but 1 Lane, 2 Process, 0 Bug, 0 Replays, 6..6 steps expect 0 // large: for 3 but 2 Process, 0 Bug, 0 Replays, 9..9 steps
check NothingIsLeasedToTheDisabled for 2 but 0 Bug, 0 Replays, 6..6 steps expect 0 // large: for 3 but 2 Process, 0 Bug, 0 Replays, 8..8 steps
check NothingIsSentTwice for 1 but 2 Process, 0 Bug, 0 Replays, 10..10 steps expect 0 // large: for 2 but 0 Bug, 0 Replays, 10..10 steps

/* Each check finds its seeded bugs. */
check NoLaneWaitsForEver for 3 but 1 Lane, 2 Process, 1 Bug, exactly 1 LaterNotLocked, 7..7 steps expect 1
check NoLaneWaitsForEver for 3 but 1 Lane, 2 Process, 1 Bug, exactly 1 EarlierEndedFirst, 7..7 steps expect 1
check NoLaneWaitsForEver for 2 but 1 Process, 1 Bug, exactly 1 IntakeWithoutLock, 0 Replays, 7..7 steps expect 1
check FirstRequestsGoInSequence for 2 but 1 Process, 1 Bug, exactly 1 DueInBusyLane, 0 Replays, 6..6 steps expect 1
check NothingIsLeasedToTheDisabled for 2 but 1 Process, 1 Bug, exactly 1 PromotionBeforeDisabling, 0 Replays, 5..5 steps expect 1
check NothingIsSentTwice for 1 but 2 Process, 1 Bug, exactly 1 LeaseWithoutFence, 0 Replays, 10..10 steps expect 1
