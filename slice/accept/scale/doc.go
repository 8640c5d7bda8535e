// Package scale changes pictures that a provider refuses, so that it takes them: a smaller one, or
// one of another type. It decodes them, which package accept does not.
package scale
