//go:build !linux

package commit

import "os"

func takeLease(*os.File) error         { return errNoLease }
func leaseStateOf(*os.File) leaseState { return leaseUnknown }
func dropLease(*os.File)               {}
