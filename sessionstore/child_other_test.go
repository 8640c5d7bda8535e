//go:build !unix

package sessionstore_test

var children map[string]func(dir string) error
