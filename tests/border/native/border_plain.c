/* A plain shared library, as it is called through ctypes or cffi. */
#include <math.h>

static double *remembered;
static long remembered_length;

double total(const double *x, long n) {
    double sum = 0;
    for (long i = 0; i < n; i++)
        sum += (double)(i + 1) * sin(x[i]);
    return sum;
}

double twice(double x) { return 2.0 * x; }

void scale(double *x, long n, double factor) {
    for (long i = 0; i < n; i++)
        x[i] *= factor;
}

void scale_into(const double *x, double *out, long n, double factor) {
    for (long i = 0; i < n; i++)
        out[i] = factor * x[i];
}

void accumulate(const double *x, double *out, long n) {
    for (long i = 0; i < n; i++)
        out[i] += x[i];
}

void apply(double (*function)(double), double *x, long n) {
    for (long i = 0; i < n; i++)
        x[i] = function(x[i]);
}

double *place(double *x, long i) { return x + i; }

void remember(double *x, long n) {
    remembered = x;
    remembered_length = n;
}

void scale_remembered(double factor) { scale(remembered, remembered_length, factor); }
