/* An extension module as users write them: functions and types that reach the memory of their
 * arguments through the buffer protocol. Which of them write, keep or alias what, is said at each;
 * nothing of it can be seen from Python. Arrays are contiguous ones of doubles. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <math.h>

typedef struct {
    Py_buffer buffer;
    double *items;
    Py_ssize_t length;
} Memory;

static int reach(PyObject *object, Memory *memory, int writable) {
    int flags = PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (writable ? PyBUF_WRITABLE : 0);
    if (PyObject_GetBuffer(object, &memory->buffer, flags) < 0)
        return -1;
    if (memory->buffer.itemsize != sizeof(double) || !memory->buffer.format
        || memory->buffer.format[0] != 'd') {
        PyBuffer_Release(&memory->buffer);
        PyErr_SetString(PyExc_TypeError, "doubles are needed");
        return -1;
    }
    memory->items = memory->buffer.buf;
    memory->length = memory->buffer.len / (Py_ssize_t)sizeof(double);
    return 0;
}

static int scale_memory(PyObject *object, double factor) {
    Memory x;
    if (reach(object, &x, 1) < 0)
        return -1;
    for (Py_ssize_t i = 0; i < x.length; i++)
        x.items[i] *= factor;
    PyBuffer_Release(&x.buffer);
    return 0;
}

static int sum_memory(PyObject *object, double *sum) {
    Memory x;
    if (reach(object, &x, 0) < 0)
        return -1;
    *sum = 0;
    for (Py_ssize_t i = 0; i < x.length; i++)
        *sum += (double)(i + 1) * sin(x.items[i]);
    PyBuffer_Release(&x.buffer);
    return 0;
}

static PyObject *add_memory(PyObject *source, PyObject *target, double factor, int replace) {
    Memory x, out;
    if (reach(source, &x, 0) < 0)
        return NULL;
    if (reach(target, &out, 1) < 0) {
        PyBuffer_Release(&x.buffer);
        return NULL;
    }
    for (Py_ssize_t i = 0; i < x.length && i < out.length; i++)
        out.items[i] = (replace ? 0 : out.items[i]) + factor * x.items[i];
    PyBuffer_Release(&x.buffer);
    PyBuffer_Release(&out.buffer);
    Py_RETURN_NONE;
}

/* total(x) -> float; reads. */
static PyObject *total(PyObject *self, PyObject *x) {
    double sum;
    return sum_memory(x, &sum) < 0 ? NULL : PyFloat_FromDouble(sum);
}

/* scale_into(x, out, factor=2.0) -> None; writes out. */
static PyObject *scale_into(PyObject *self, PyObject *args, PyObject *named) {
    static char *names[] = {"x", "out", "factor", NULL};
    PyObject *x, *out;
    double factor = 2.0;
    if (!PyArg_ParseTupleAndKeywords(args, named, "OO|d", names, &x, &out, &factor))
        return NULL;
    return add_memory(x, out, factor, 1);
}

/* accumulate(x, out, factor=1.0) -> None; adds to out. */
static PyObject *accumulate(PyObject *self, PyObject *args) {
    PyObject *x, *out;
    double factor = 1.0;
    if (!PyArg_ParseTuple(args, "OO|d", &x, &out, &factor))
        return NULL;
    return add_memory(x, out, factor, 0);
}

/* scale(x, factor=2.0) -> None; writes x. */
static PyObject *scale(PyObject *self, PyObject *args) {
    PyObject *x;
    double factor = 2.0;
    if (!PyArg_ParseTuple(args, "O|d", &x, &factor) || scale_memory(x, factor) < 0)
        return NULL;
    Py_RETURN_NONE;
}

/* scaled(x, factor=2.0) -> x itself; writes x. */
static PyObject *scaled(PyObject *self, PyObject *args) {
    PyObject *x;
    double factor = 2.0;
    if (!PyArg_ParseTuple(args, "O|d", &x, &factor) || scale_memory(x, factor) < 0)
        return NULL;
    return Py_NewRef(x);
}

/* doubled(x) -> a new array; reads. */
static PyObject *doubled(PyObject *self, PyObject *x) {
    PyObject *copy = PyObject_CallMethod(x, "copy", NULL);
    if (copy && scale_memory(copy, 2.0) < 0)
        Py_CLEAR(copy);
    return copy;
}

/* same(x) -> x itself; neither reads nor writes. */
static PyObject *same(PyObject *self, PyObject *x) {
    return Py_NewRef(x);
}

/* view(x) -> a memoryview of x's memory. */
static PyObject *view(PyObject *self, PyObject *x) {
    return PyMemoryView_FromObject(x);
}

/* tail(x) -> x[1:], a view. */
static PyObject *tail(PyObject *self, PyObject *x) {
    return PySequence_GetSlice(x, 1, PY_SSIZE_T_MAX);
}

/* scale_base(view, factor) -> None; writes the array that the view is part of. */
static PyObject *scale_base(PyObject *self, PyObject *args) {
    PyObject *x;
    double factor;
    if (!PyArg_ParseTuple(args, "Od", &x, &factor))
        return NULL;
    PyObject *base = PyObject_GetAttrString(x, "base");
    if (!base)
        return NULL;
    int failed = scale_memory(base == Py_None ? x : base, factor) < 0;
    Py_DECREF(base);
    if (failed)
        return NULL;
    Py_RETURN_NONE;
}

/* sum_of(iterable) -> float; runs iterators and generators to their end. */
static PyObject *sum_of(PyObject *self, PyObject *iterable) {
    PyObject *iterator = PyObject_GetIter(iterable), *item;
    double sum = 0;
    if (!iterator)
        return NULL;
    while ((item = PyIter_Next(iterator))) {
        sum = 0.5 * sum + PyFloat_AsDouble(item);
        Py_DECREF(item);
    }
    Py_DECREF(iterator);
    return PyErr_Occurred() ? NULL : PyFloat_FromDouble(sum);
}

/* apply(function, x) -> None; x[i] = function(x[i]). */
static PyObject *apply(PyObject *self, PyObject *args) {
    PyObject *function, *object;
    Memory x;
    if (!PyArg_ParseTuple(args, "OO", &function, &object) || reach(object, &x, 1) < 0)
        return NULL;
    for (Py_ssize_t i = 0; i < x.length && !PyErr_Occurred(); i++) {
        PyObject *result = PyObject_CallFunction(function, "d", x.items[i]);
        if (!result)
            break;
        x.items[i] = PyFloat_AsDouble(result);
        Py_DECREF(result);
    }
    PyBuffer_Release(&x.buffer);
    if (PyErr_Occurred())
        return NULL;
    Py_RETURN_NONE;
}

/* call(function, *args) -> function(*args). */
static PyObject *call(PyObject *self, PyObject *args) {
    PyObject *rest = PyTuple_GetSlice(args, 1, PY_SSIZE_T_MAX);
    PyObject *result = rest ? PyObject_CallObject(PyTuple_GET_ITEM(args, 0), rest) : NULL;
    Py_XDECREF(rest);
    return result;
}

/* scale_items(iterable, factor) -> None; writes every array in it (of a dict: its values). */
static PyObject *scale_items(PyObject *self, PyObject *args) {
    PyObject *held;
    double factor;
    if (!PyArg_ParseTuple(args, "Od", &held, &factor))
        return NULL;
    PyObject *items = PyDict_Check(held) ? PyDict_Values(held) : PySequence_List(held);
    if (!items)
        return NULL;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(items); i++)
        if (scale_memory(PyList_GET_ITEM(items, i), factor) < 0) {
            Py_DECREF(items);
            return NULL;
        }
    Py_DECREF(items);
    Py_RETURN_NONE;
}

/* fill(list, value) -> None; every item becomes the value. */
static PyObject *fill(PyObject *self, PyObject *args) {
    PyObject *list, *value;
    if (!PyArg_ParseTuple(args, "O!O", &PyList_Type, &list, &value))
        return NULL;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); i++)
        PyList_SetItem(list, i, Py_NewRef(value));
    Py_RETURN_NONE;
}

/* scale_attribute(object, name, factor) -> None; writes the array behind the attribute. */
static PyObject *scale_attribute(PyObject *self, PyObject *args) {
    PyObject *object;
    const char *name;
    double factor;
    if (!PyArg_ParseTuple(args, "Osd", &object, &name, &factor))
        return NULL;
    PyObject *held = PyObject_GetAttrString(object, name);
    if (!held)
        return NULL;
    int failed = scale_memory(held, factor) < 0;
    Py_DECREF(held);
    if (failed)
        return NULL;
    Py_RETURN_NONE;
}

/* set_attribute(object, name, value) -> None. */
static PyObject *set_attribute(PyObject *self, PyObject *args) {
    PyObject *object, *value;
    const char *name;
    if (!PyArg_ParseTuple(args, "OsO", &object, &name, &value)
        || PyObject_SetAttrString(object, name, value) < 0)
        return NULL;
    Py_RETURN_NONE;
}

/* Keeper: holds on to arrays that it is given, and writes to them when it is told to. */
typedef struct {
    PyObject_HEAD
    PyObject *kept;
    long reads;
} Keeper;

static PyObject *keeper_keep(Keeper *self, PyObject *x) {
    Py_XSETREF(self->kept, Py_NewRef(x));
    Py_RETURN_NONE;
}

static PyObject *keeper_scale(Keeper *self, PyObject *args) {
    double factor;
    if (!PyArg_ParseTuple(args, "d", &factor) || scale_memory(self->kept, factor) < 0)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *keeper_total(Keeper *self, PyObject *none) {
    return total(NULL, self->kept);
}

static PyObject *keeper_array(Keeper *self, PyObject *none) {
    return Py_NewRef(self->kept);
}

static int keeper_init(Keeper *self, PyObject *args, PyObject *named) {
    PyObject *x = Py_None;
    if (!PyArg_ParseTuple(args, "|O", &x))
        return -1;
    Py_XSETREF(self->kept, Py_NewRef(x));
    return 0;
}

static void keeper_dealloc(Keeper *self) {
    PyTypeObject *type = Py_TYPE(self);
    Py_XDECREF(self->kept);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyObject *keeper_item(Keeper *self, Py_ssize_t i) {
    return PySequence_GetItem(self->kept, i);
}

static int keeper_set_item(Keeper *self, Py_ssize_t i, PyObject *value) {
    return PySequence_SetItem(self->kept, i, value);
}

static PyObject *keeper_first(Keeper *self, void *none) {
    return PySequence_GetItem(self->kept, 0);
}

static int keeper_set_first(Keeper *self, PyObject *value, void *none) {
    return PySequence_SetItem(self->kept, 0, value);
}

static PyObject *keeper_reads(Keeper *self, void *none) {
    self->reads += 1;
    return PyFloat_FromDouble((double)self->reads);
}

static PyObject *keeper_times(Keeper *self, PyObject *factor) {
    double by = PyFloat_AsDouble(factor);
    if (PyErr_Occurred() || scale_memory(self->kept, by) < 0)
        return NULL;
    return Py_NewRef((PyObject *)self);
}

/* Parts of a list, dict or object that is kept: read, set, and given to another function. */
static PyObject *keeper_get(Keeper *self, PyObject *key) {
    return PyObject_GetItem(self->kept, key);
}

static PyObject *keeper_put(Keeper *self, PyObject *args) {
    PyObject *key, *value;
    if (!PyArg_ParseTuple(args, "OO", &key, &value)
        || PyObject_SetItem(self->kept, key, value) < 0)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *keeper_set(Keeper *self, PyObject *args) {
    PyObject *name, *value;
    if (!PyArg_ParseTuple(args, "OO", &name, &value)
        || PyObject_SetAttr(self->kept, name, value) < 0)
        return NULL;
    Py_RETURN_NONE;
}

static PyMethodDef keeper_methods[] = {
    {"get", (PyCFunction)keeper_get, METH_O, NULL},
    {"put", (PyCFunction)keeper_put, METH_VARARGS, NULL},
    {"set", (PyCFunction)keeper_set, METH_VARARGS, NULL},
    {"keep", (PyCFunction)keeper_keep, METH_O, NULL},
    {"scale", (PyCFunction)keeper_scale, METH_VARARGS, NULL},
    {"total", (PyCFunction)keeper_total, METH_NOARGS, NULL},
    {"array", (PyCFunction)keeper_array, METH_NOARGS, NULL},
    {NULL}};

static PyGetSetDef keeper_attributes[] = {
    {"first", (getter)keeper_first, (setter)keeper_set_first, NULL, NULL},
    {"reads", (getter)keeper_reads, NULL, NULL, NULL},
    {NULL}};

static PyType_Slot keeper_slots[] = {
    {Py_tp_new, PyType_GenericNew},
    {Py_tp_init, keeper_init},
    {Py_tp_dealloc, keeper_dealloc},
    {Py_tp_methods, keeper_methods},
    {Py_tp_getset, keeper_attributes},
    {Py_sq_item, keeper_item},
    {Py_sq_ass_item, keeper_set_item},
    {Py_nb_inplace_multiply, keeper_times},
    {0, NULL}};

static PyType_Spec keeper_spec = {
    "border_native.Keeper", sizeof(Keeper), 0, Py_TPFLAGS_DEFAULT, keeper_slots};

/* Accumulator(n): n doubles of its own, which NumPy can view through the buffer protocol. */
typedef struct {
    PyObject_HEAD
    Py_ssize_t length;
    double *items;
} Accumulator;

static int accumulator_init(Accumulator *self, PyObject *args, PyObject *named) {
    if (!PyArg_ParseTuple(args, "n", &self->length))
        return -1;
    PyMem_Free(self->items);
    self->items = PyMem_Calloc(self->length, sizeof(double));
    return self->items ? 0 : -1;
}

static void accumulator_dealloc(Accumulator *self) {
    PyTypeObject *type = Py_TYPE(self);
    PyMem_Free(self->items);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyObject *accumulator_add(Accumulator *self, PyObject *x) {
    return add_memory(x, (PyObject *)self, 1.0, 0);
}

static PyObject *accumulator_total(Accumulator *self, PyObject *none) {
    return total(NULL, (PyObject *)self);
}

static int accumulator_buffer(Accumulator *self, Py_buffer *buffer, int flags) {
    static Py_ssize_t stride = sizeof(double);
    *buffer = (Py_buffer){.buf = self->items,
                          .obj = Py_NewRef((PyObject *)self),
                          .len = self->length * stride,
                          .itemsize = stride,
                          .format = "d",
                          .ndim = 1,
                          .shape = &self->length,
                          .strides = &stride};
    return 0;
}

static PyMethodDef accumulator_methods[] = {
    {"add", (PyCFunction)accumulator_add, METH_O, NULL},
    {"total", (PyCFunction)accumulator_total, METH_NOARGS, NULL},
    {NULL}};

static PyType_Slot accumulator_slots[] = {
    {Py_tp_new, PyType_GenericNew},
    {Py_tp_init, accumulator_init},
    {Py_tp_dealloc, accumulator_dealloc},
    {Py_tp_methods, accumulator_methods},
    {Py_bf_getbuffer, accumulator_buffer},
    {0, NULL}};

static PyType_Spec accumulator_spec = {
    "border_native.Accumulator", sizeof(Accumulator), 0, Py_TPFLAGS_DEFAULT, accumulator_slots};

/* fortran(): called as what f2py makes of axpy, (x, y, a=1.0, overwrite_y=0) -> a * x + y, in the
 * memory of y where that may be overwritten. */
static PyObject *fortran_call(PyObject *self, PyObject *args, PyObject *named) {
    static char *names[] = {"x", "y", "a", "overwrite_y", NULL};
    PyObject *x, *y;
    double a = 1.0;
    int overwrite = 0;
    if (!PyArg_ParseTupleAndKeywords(args, named, "OO|di", names, &x, &y, &a, &overwrite))
        return NULL;
    PyObject *out = overwrite ? Py_NewRef(y) : PyObject_CallMethod(y, "copy", NULL);
    PyObject *done = out ? add_memory(x, out, a, 0) : NULL;
    if (!done)
        Py_CLEAR(out);
    Py_XDECREF(done);
    return out;
}

static void fortran_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyType_Slot fortran_slots[] = {{Py_tp_new, PyType_GenericNew},
                                      {Py_tp_call, fortran_call},
                                      {Py_tp_dealloc, fortran_dealloc},
                                      {0, NULL}};

static PyType_Spec fortran_spec = {
    "border_native.fortran", sizeof(PyObject), 0, Py_TPFLAGS_DEFAULT, fortran_slots};

/* Gate(): true the first two times that it is asked; asked(): how often that was; called: its
 * truth, without being asked. */
typedef struct {
    PyObject_HEAD
    long asked;
} Gate;

static int gate_true(Gate *self) {
    return ++self->asked <= 2;
}

static PyObject *gate_asked(Gate *self, PyObject *none) {
    return PyLong_FromLong(self->asked);
}

static PyObject *gate_call(Gate *self, PyObject *args, PyObject *named) {
    return PyBool_FromLong(self->asked < 2);
}

static PyMethodDef gate_methods[] = {{"asked", (PyCFunction)gate_asked, METH_NOARGS, NULL}, {NULL}};

static PyType_Slot gate_slots[] = {{Py_tp_new, PyType_GenericNew},
                                   {Py_tp_dealloc, fortran_dealloc},
                                   {Py_tp_methods, gate_methods},
                                   {Py_tp_call, gate_call},
                                   {Py_nb_bool, gate_true},
                                   {0, NULL}};

static PyType_Spec gate_spec = {
    "border_native.Gate", sizeof(Gate), 0, Py_TPFLAGS_DEFAULT, gate_slots};

/* put: object[key] = value; get: object[key]. */
static PyObject *put(PyObject *module, PyObject *args) {
    PyObject *object, *key, *value;
    if (!PyArg_ParseTuple(args, "OOO", &object, &key, &value)
        || PyObject_SetItem(object, key, value) < 0)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *get(PyObject *module, PyObject *args) {
    PyObject *object, *key;
    if (!PyArg_ParseTuple(args, "OO", &object, &key))
        return NULL;
    return PyObject_GetItem(object, key);
}

static PyMethodDef functions[] = {
    {"put", put, METH_VARARGS, NULL},
    {"get", get, METH_VARARGS, NULL},
    {"total", total, METH_O, NULL},
    {"scale_into", (PyCFunction)(void (*)(void))scale_into, METH_VARARGS | METH_KEYWORDS, NULL},
    {"accumulate", accumulate, METH_VARARGS, NULL},
    {"scale", scale, METH_VARARGS, NULL},
    {"scaled", scaled, METH_VARARGS, NULL},
    {"doubled", doubled, METH_O, NULL},
    {"same", same, METH_O, NULL},
    {"view", view, METH_O, NULL},
    {"tail", tail, METH_O, NULL},
    {"scale_base", scale_base, METH_VARARGS, NULL},
    {"sum_of", sum_of, METH_O, NULL},
    {"apply", apply, METH_VARARGS, NULL},
    {"call", call, METH_VARARGS, NULL},
    {"scale_items", scale_items, METH_VARARGS, NULL},
    {"fill", fill, METH_VARARGS, NULL},
    {"scale_attribute", scale_attribute, METH_VARARGS, NULL},
    {"set_attribute", set_attribute, METH_VARARGS, NULL},
    {NULL}};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "border_native", NULL, -1, functions};

PyMODINIT_FUNC PyInit_border_native(void) {
    PyObject *made = PyModule_Create(&module);
    PyType_Spec *specs[] = {&keeper_spec, &accumulator_spec, &fortran_spec, &gate_spec};
    const char *names[] = {"Keeper", "Accumulator", "fortran", "Gate"};
    for (int i = 0; made && i < 4; i++) {
        PyObject *type = PyType_FromSpec(specs[i]);
        if (!type || PyModule_AddObject(made, names[i], type) < 0)
            return NULL;
    }
    PyObject *axpy = made ? PyObject_CallMethod(made, "fortran", NULL) : NULL;
    if (!axpy || PyModule_AddObject(made, "axpy", axpy) < 0)
        return NULL;
    return made;
}
