//go:build !linux

package sessiondir

func finelyTimed(string) bool { return false }
