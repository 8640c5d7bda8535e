package commit

import "errors"

// leaseState is the state of a write lease.
type leaseState uint8

const (
	leaseHeld    leaseState = iota
	readerWaits             // a program waits to open the file for reading
	writerWaits             // a program waits to open the file for writing, or the lease has expired
	leaseUnknown            // the system does not report it
)

var (
	errInUse   = errors.New("another program has the file open")
	errNoLease = errors.New("the file system has no leases")
)
