//go:build !linux && !darwin

package dir

func onFUSE(string) bool { return false }
