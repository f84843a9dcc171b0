; Made of library_slopes.py by gendsl.compiler.run.write_slopes.
; may fail: line 0: a list of more than 10^9 items
; may fail: line 0: a list of more than 10^9 items
; may fail: line 0: a list of more than 10^9 items
; may fail: line 0: a list of more than 10^9 items
; may fail: line 0: a list of more than 10^9 items
; may fail: line 0: a list of more than 10^9 items
; may fail: line 0: a list of more than 10^9 items
; may fail: line 0: an assertion: entries[row] > 0
; may fail: line 0: an assertion: entries[row] == 1
; may fail: line 0: log out of its domain
; may fail: line 0: log out of its domain
; may fail: line 0: log out of its domain
; may fail: line 0: a list of more than 10^9 items
; may fail: line 0: a list of more than 10^9 items
; may fail: line 0: an assertion: best > 0.0
; may fail: line 0: a division by zero
; may fail: line 0: log out of its domain
; may fail: line 0: a list of more than 10^9 items
; may fail: line 0: a list of more than 10^9 items
; may fail: line 0: a list of more than 10^9 items
; may fail: line 0: an assertion: abs(slope) < math.inf
; may fail: line 0: a list of more than 10^9 items
; may fail: line 0: a list of more than 10^9 items

declare double @llvm.fabs.f64(double)
declare double @llvm.floor.f64(double)
declare double @llvm.ceil.f64(double)
declare double @llvm.rint.f64(double)
declare double @llvm.copysign.f64(double, double)
declare {i64, i1} @llvm.sadd.with.overflow.i64(i64, i64)
declare {i64, i1} @llvm.ssub.with.overflow.i64(i64, i64)
declare {i64, i1} @llvm.smul.with.overflow.i64(i64, i64)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare i64 @llvm.readcyclecounter()

define internal ptr @gendsl_allocate(ptr %ctx, i64 %words) alwaysinline {
  %next = load i64, ptr %ctx, !tbaa !1
  %bytes = shl i64 %words, 3
  %new = add i64 %next, %bytes
  %endp = getelementptr i64, ptr %ctx, i64 1
  %end = load i64, ptr %endp, !tbaa !1
  %fits = icmp ule i64 %new, %end
  br i1 %fits, label %yes, label %no
yes:
  store i64 %new, ptr %ctx, !tbaa !1
  %p = inttoptr i64 %next to ptr
  ret ptr %p
no:
  ret ptr null
}

define internal ptr @gendsl_new_list(ptr %ctx, i64 %count, i64 %capacity, i64 %width) noinline {
  %numbers = mul i64 %capacity, %width
  %words = add i64 %numbers, 3
  %list = call ptr @gendsl_allocate(ptr %ctx, i64 %words)
  %full = icmp eq ptr %list, null
  br i1 %full, label %done, label %made
made:
  %data = getelementptr i64, ptr %list, i64 3
  store i64 %count, ptr %list, !tbaa !2
  %capacityp = getelementptr i64, ptr %list, i64 1
  store i64 %capacity, ptr %capacityp, !tbaa !2
  %datap = getelementptr i64, ptr %list, i64 2
  store ptr %data, ptr %datap, !tbaa !2
  br label %done
done:
  ret ptr %list
}

define internal ptr @gendsl_grown(ptr %ctx, ptr %list, i64 %more, i64 %width) noinline cold {
  %count = load i64, ptr %list, !tbaa !2
  %capacityp = getelementptr i64, ptr %list, i64 1
  %capacity = load i64, ptr %capacityp, !tbaa !2
  %twice = shl i64 %capacity, 1
  %larger = add i64 %twice, %more
  %words = mul i64 %larger, %width
  %fresh = call ptr @gendsl_allocate(ptr %ctx, i64 %words)
  %full = icmp eq ptr %fresh, null
  br i1 %full, label %done, label %made
made:
  %datap = getelementptr i64, ptr %list, i64 2
  %data = load ptr, ptr %datap, !tbaa !2
  %numbers = mul i64 %count, %width
  %bytes = shl i64 %numbers, 3
  call void @llvm.memcpy.p0.p0.i64(ptr %fresh, ptr %data, i64 %bytes, i1 false)
  store ptr %fresh, ptr %datap, !tbaa !2
  store i64 %larger, ptr %capacityp, !tbaa !2
  br label %done
done:
  ret ptr %fresh
}

define internal i64 @gendsl_mix(i64 %h, i64 %x) alwaysinline {
  %a = xor i64 %h, %x
  %b = mul i64 %a, -7046029254386353131
  %c = lshr i64 %b, 29
  %d = xor i64 %b, %c
  ret i64 %d
}

define internal i1 @gendsl_odd1(double %f, double %x) noinline cold {
  %nan = fcmp uno double %f, 0.0
  %size = call double @llvm.fabs.f64(double %x)
  %missing = fcmp uno double %x, 0.0
  %infinite = fcmp ueq double %size, 0x7FF0000000000000
  %passed = select i1 %nan, i1 %missing, i1 %infinite
  %odd = xor i1 %passed, true
  ret i1 %odd
}

define internal i1 @gendsl_odd2(double %f, double %x, double %y) noinline cold {
  %one = call i1 @gendsl_odd1(double %f, double %x)
  %other = call i1 @gendsl_odd1(double %f, double %y)
  %odd = and i1 %one, %other
  ret i1 %odd
}

define internal {i64, i1} @gendsl_ipow(i64 %x, i64 %n) {
entry:
  %negative = icmp slt i64 %n, 0
  br i1 %negative, label %bad, label %loop
loop:
  %left = phi i64 [%n, %entry], [%half, %square]
  %b = phi i64 [%x, %entry], [%b1, %square]
  %r = phi i64 [1, %entry], [%r1, %square]
  %odd = trunc i64 %left to i1
  %factor = select i1 %odd, i64 %b, i64 1
  %m = call {i64, i1} @llvm.smul.with.overflow.i64(i64 %r, i64 %factor)
  %r1 = extractvalue {i64, i1} %m, 0
  %o = extractvalue {i64, i1} %m, 1
  br i1 %o, label %bad, label %halve
halve:
  %half = lshr i64 %left, 1
  %more = icmp ne i64 %half, 0
  br i1 %more, label %square, label %done
square:
  %s = call {i64, i1} @llvm.smul.with.overflow.i64(i64 %b, i64 %b)
  %b1 = extractvalue {i64, i1} %s, 0
  %so = extractvalue {i64, i1} %s, 1
  br i1 %so, label %bad, label %loop
done:
  %ok = insertvalue {i64, i1} zeroinitializer, i64 %r1, 0
  ret {i64, i1} %ok
bad:
  %no = insertvalue {i64, i1} zeroinitializer, i1 true, 1
  ret {i64, i1} %no
}

define internal double @gendsl_fmod(double %x, double %y) alwaysinline {
  %r = call double @fmod(double %x, double %y)
  %zero = fcmp oeq double %r, 0.0
  br i1 %zero, label %signed, label %other
signed:
  %s = call double @llvm.copysign.f64(double 0.0, double %y)
  ret double %s
other:
  %rn = fcmp olt double %r, 0.0
  %yn = fcmp olt double %y, 0.0
  %differ = xor i1 %rn, %yn
  %moved = fadd double %r, %y
  %result = select i1 %differ, double %moved, double %r
  ret double %result
}

define internal double @gendsl_ffloordiv(double %x, double %y) alwaysinline {
  %ratio = fdiv double %x, %y
  %r = call double @fmod(double %x, double %y)
  %rest = fcmp une double %r, 0.0
  %rn = fcmp olt double %r, 0.0
  %yn = fcmp olt double %y, 0.0
  %other = xor i1 %rn, %yn
  %differ = and i1 %rest, %other
  %d = fsub double %x, %r
  %q0 = fdiv double %d, %y
  %q1 = fsub double %q0, 1.0
  %q = select i1 %differ, double %q1, double %q0
  %f = call double @llvm.floor.f64(double %q)
  %over = fsub double %q, %f
  %more = fcmp ogt double %over, 0.5
  %f1 = fadd double %f, 1.0
  %whole = select i1 %more, double %f1, double %f
  %none = fcmp oeq double %q, 0.0
  %signed = call double @llvm.copysign.f64(double 0.0, double %ratio)
  %found = select i1 %none, double %signed, double %whole
  %by_zero = fcmp oeq double %y, 0.0
  %result = select i1 %by_zero, double %ratio, double %found
  ret double %result
}


declare <16 x double> @llvm.fmuladd.v16f64(<16 x double>, <16 x double>, <16 x double>)
declare <16 x double> @llvm.fabs.v16f64(<16 x double>)
declare <16 x double> @llvm.floor.v16f64(<16 x double>)
declare <16 x double> @llvm.sqrt.v16f64(<16 x double>)
declare {<16 x i64>, <16 x i1>} @llvm.sadd.with.overflow.v16i64(<16 x i64>, <16 x i64>)
declare {<16 x i64>, <16 x i1>} @llvm.ssub.with.overflow.v16i64(<16 x i64>, <16 x i64>)
declare {<16 x i64>, <16 x i1>} @llvm.smul.with.overflow.v16i64(<16 x i64>, <16 x i64>)
declare <16 x double> @llvm.masked.gather.v16f64.v16p0(<16 x ptr>, i32, <16 x i1>, <16 x double>)
declare <16 x i64> @llvm.masked.gather.v16i64.v16p0(<16 x ptr>, i32, <16 x i1>, <16 x i64>)
declare <16 x ptr> @llvm.masked.gather.v16p0.v16p0(<16 x ptr>, i32, <16 x i1>, <16 x ptr>)
declare void @llvm.masked.store.v16f64.p0(<16 x double>, ptr, i32, <16 x i1>)
declare void @llvm.masked.store.v16i64.p0(<16 x i64>, ptr, i32, <16 x i1>)
declare void @llvm.masked.store.v16p0.p0(<16 x ptr>, ptr, i32, <16 x i1>)
declare i16 @llvm.cttz.i16(i16, i1)
declare i16 @llvm.ctpop.i16(i16)
declare i64 @llvm.cttz.i64(i64, i1)


declare double @log(double) nounwind willreturn memory(none)
declare double @fmod(double, double) nounwind willreturn memory(none)

define {i32} @gendsl_slopes_ordered(ptr align 8 dereferenceable(544) %ctx, ptr %p0) noinline {
entry:
  %x0 = alloca ptr
  store ptr zeroinitializer, ptr %x0
  %x1 = alloca i64
  store i64 zeroinitializer, ptr %x1
  %x2 = alloca i64
  store i64 zeroinitializer, ptr %x2
  %x3 = alloca i64
  store i64 zeroinitializer, ptr %x3
  %x4 = alloca i64
  store i64 zeroinitializer, ptr %x4
  %x5 = alloca i64
  store i64 zeroinitializer, ptr %x5
  %x6 = alloca double
  store double zeroinitializer, ptr %x6
  %x7 = alloca i64
  store i64 zeroinitializer, ptr %x7
  %x8 = alloca i64
  store i64 zeroinitializer, ptr %x8
  %x9 = alloca double
  store double zeroinitializer, ptr %x9
  %x10 = alloca i1
  store i1 zeroinitializer, ptr %x10
  %x11 = alloca i64
  store i64 zeroinitializer, ptr %x11
  %x12 = alloca double
  store double zeroinitializer, ptr %x12
  %x13 = alloca i1
  store i1 zeroinitializer, ptr %x13
  %x14 = alloca i64
  store i64 zeroinitializer, ptr %x14
  %x15 = alloca double
  store double zeroinitializer, ptr %x15
  %x16 = alloca i64
  store i64 zeroinitializer, ptr %x16
  %x17 = alloca i64
  store i64 zeroinitializer, ptr %x17
  %x18 = alloca i64
  store i64 zeroinitializer, ptr %x18
  %x19 = alloca i64
  store i64 zeroinitializer, ptr %x19
  %x20 = alloca i64
  store i64 zeroinitializer, ptr %x20
  %x21 = alloca double
  store double zeroinitializer, ptr %x21
  %x22 = alloca i64
  store i64 zeroinitializer, ptr %x22
  %x23 = alloca i64
  store i64 zeroinitializer, ptr %x23
  %x24 = alloca ptr
  store ptr zeroinitializer, ptr %x24
  %x25 = alloca i64
  store i64 zeroinitializer, ptr %x25
  %x26 = alloca i64
  store i64 zeroinitializer, ptr %x26
  %x27 = alloca i64
  store i64 zeroinitializer, ptr %x27
  %x28 = alloca double
  store double zeroinitializer, ptr %x28
  %x29 = alloca i64
  store i64 zeroinitializer, ptr %x29
  %x30 = alloca i64
  store i64 zeroinitializer, ptr %x30
  %x31 = alloca i64
  store i64 zeroinitializer, ptr %x31
  %x32 = alloca i64
  store i64 zeroinitializer, ptr %x32
  %x33 = alloca double
  store double zeroinitializer, ptr %x33
  store ptr %p0, ptr %x0
  %v1 = load ptr, ptr %x0
  %v2 = load i64, ptr %v1, !tbaa !2
  store i64 %v2, ptr %x1
  store i64 1, ptr %x2
  %v3 = load i64, ptr %x1
  %v4 = icmp sgt i64 1, 0
  %v5 = sub i64 %v3, 1
  %v6 = sub i64 1, %v3
  %v7 = select i1 %v4, i64 %v5, i64 %v6
  %v8 = sub i64 0, 1
  %v9 = select i1 %v4, i64 1, i64 %v8
  %v10 = sub i64 %v9, 1
  %v11 = add i64 %v7, %v10
  %v12 = icmp eq i64 %v9, 0
  %v13 = select i1 %v12, i64 1, i64 %v9
  %v14 = sdiv i64 %v11, %v13
  %v15 = icmp sgt i64 %v7, 0
  %v16 = select i1 %v15, i64 %v14, i64 0
  store i64 0, ptr %x4
  br label %head17
head17:
  %v21 = load i64, ptr %x4
  store i64 %v21, ptr %x3
  %v22 = icmp slt i64 %v21, %v16
  br i1 %v22, label %loop18, label %after20
loop18:
  %v23 = load ptr, ptr %x0
  %v24 = load i64, ptr %v23, !tbaa !2
  %v25 = load i64, ptr %x3
  %v26 = call {i64, i1} @llvm.sadd.with.overflow.i64(i64 1, i64 %v25)
  %v27 = extractvalue {i64, i1} %v26, 0
  %v28 = getelementptr i64, ptr %v23, i64 2
  %v29 = load ptr, ptr %v28, !tbaa !2
  %v30 = mul i64 %v27, 2
  %v31 = getelementptr i64, ptr %v29, i64 %v30
  %v32 = load i64, ptr %v31, !tbaa !4
  %v33 = getelementptr i64, ptr %v31, i64 1
  %v34 = load double, ptr %v33, !tbaa !3
  store i64 %v32, ptr %x5
  store double %v34, ptr %x6
  %v35 = load i64, ptr %x2
  store i64 %v35, ptr %x7
  br label %head36
head36:
  %v39 = load i64, ptr %x7
  %v40 = icmp sgt i64 %v39, 0
  br i1 %v40, label %then41, label %else42
then41:
  %v44 = load ptr, ptr %x0
  %v45 = load i64, ptr %v44, !tbaa !2
  %v46 = load i64, ptr %x7
  %v47 = call {i64, i1} @llvm.ssub.with.overflow.i64(i64 %v46, i64 1)
  %v48 = extractvalue {i64, i1} %v47, 0
  %v49 = getelementptr i64, ptr %v44, i64 2
  %v50 = load ptr, ptr %v49, !tbaa !2
  %v51 = mul i64 %v48, 2
  %v52 = getelementptr i64, ptr %v50, i64 %v51
  %v53 = load i64, ptr %v52, !tbaa !4
  %v54 = getelementptr i64, ptr %v52, i64 1
  %v55 = load double, ptr %v54, !tbaa !3
  store i64 %v53, ptr %x8
  store double %v55, ptr %x9
  %v56 = load i64, ptr %x8
  %v57 = load i64, ptr %x5
  %v58 = icmp sgt i64 %v56, %v57
  store i1 %v58, ptr %x10
  br label %after43
else42:
  store i1 false, ptr %x10
  br label %after43
after43:
  %v59 = load i1, ptr %x10
  %v60 = xor i1 %v59, true
  br i1 %v60, label %then61, label %else62
then61:
  br label %after37
else62:
  %v64 = load i64, ptr %x7
  %v65 = call {i64, i1} @llvm.ssub.with.overflow.i64(i64 %v64, i64 1)
  %v66 = extractvalue {i64, i1} %v65, 0
  store i64 %v66, ptr %x7
  br label %after63
after63:
  br label %next38
next38:
  br label %head36
after37:
  %v67 = load i64, ptr %x7
  %v68 = icmp sgt i64 %v67, 0
  br i1 %v68, label %then69, label %else70
then69:
  %v72 = load ptr, ptr %x0
  %v73 = load i64, ptr %v72, !tbaa !2
  %v74 = load i64, ptr %x7
  %v75 = call {i64, i1} @llvm.ssub.with.overflow.i64(i64 %v74, i64 1)
  %v76 = extractvalue {i64, i1} %v75, 0
  %v77 = getelementptr i64, ptr %v72, i64 2
  %v78 = load ptr, ptr %v77, !tbaa !2
  %v79 = mul i64 %v76, 2
  %v80 = getelementptr i64, ptr %v78, i64 %v79
  %v81 = load i64, ptr %v80, !tbaa !4
  %v82 = getelementptr i64, ptr %v80, i64 1
  %v83 = load double, ptr %v82, !tbaa !3
  store i64 %v81, ptr %x11
  store double %v83, ptr %x12
  %v84 = load i64, ptr %x11
  %v85 = load i64, ptr %x5
  %v86 = icmp eq i64 %v84, %v85
  store i1 %v86, ptr %x13
  br label %after71
else70:
  store i1 false, ptr %x13
  br label %after71
after71:
  %v87 = load i1, ptr %x13
  br i1 %v87, label %then88, label %else89
then88:
  %v91 = load ptr, ptr %x0
  %v92 = load i64, ptr %v91, !tbaa !2
  %v93 = load i64, ptr %x7
  %v94 = call {i64, i1} @llvm.ssub.with.overflow.i64(i64 %v93, i64 1)
  %v95 = extractvalue {i64, i1} %v94, 0
  %v96 = getelementptr i64, ptr %v91, i64 2
  %v97 = load ptr, ptr %v96, !tbaa !2
  %v98 = mul i64 %v95, 2
  %v99 = getelementptr i64, ptr %v97, i64 %v98
  %v100 = load i64, ptr %v99, !tbaa !4
  %v101 = getelementptr i64, ptr %v99, i64 1
  %v102 = load double, ptr %v101, !tbaa !3
  store i64 %v100, ptr %x14
  store double %v102, ptr %x15
  %v103 = load ptr, ptr %x0
  %v104 = load i64, ptr %v103, !tbaa !2
  %v105 = load i64, ptr %x7
  %v106 = call {i64, i1} @llvm.ssub.with.overflow.i64(i64 %v105, i64 1)
  %v107 = extractvalue {i64, i1} %v106, 0
  %v108 = getelementptr i64, ptr %v103, i64 2
  %v109 = load ptr, ptr %v108, !tbaa !2
  %v110 = mul i64 %v107, 2
  %v111 = getelementptr i64, ptr %v109, i64 %v110
  %v112 = load i64, ptr %x5
  %v113 = load double, ptr %x15
  %v114 = load double, ptr %x6
  %v115 = fadd double %v113, %v114
  store i64 %v112, ptr %v111, !tbaa !4
  %v116 = getelementptr i64, ptr %v111, i64 1
  store double %v115, ptr %v116, !tbaa !3
  %v117 = load i64, ptr %x2
  store i64 %v117, ptr %x16
  br label %after90
else89:
  %v118 = load i64, ptr %x2
  %v119 = load i64, ptr %x7
  %v120 = icmp sgt i64 -1, 0
  %v121 = sub i64 %v119, %v118
  %v122 = sub i64 %v118, %v119
  %v123 = select i1 %v120, i64 %v121, i64 %v122
  %v124 = sub i64 0, -1
  %v125 = select i1 %v120, i64 -1, i64 %v124
  %v126 = sub i64 %v125, 1
  %v127 = add i64 %v123, %v126
  %v128 = icmp eq i64 %v125, 0
  %v129 = select i1 %v128, i64 1, i64 %v125
  %v130 = sdiv i64 %v127, %v129
  %v131 = icmp sgt i64 %v123, 0
  %v132 = select i1 %v131, i64 %v130, i64 0
  store i64 0, ptr %x18
  br label %head133
head133:
  %v137 = load i64, ptr %x18
  store i64 %v137, ptr %x17
  %v138 = icmp slt i64 %v137, %v132
  br i1 %v138, label %loop134, label %after136
loop134:
  %v139 = load i64, ptr %x2
  %v140 = load i64, ptr %x17
  %v141 = call {i64, i1} @llvm.smul.with.overflow.i64(i64 -1, i64 %v140)
  %v142 = extractvalue {i64, i1} %v141, 0
  %v143 = call {i64, i1} @llvm.sadd.with.overflow.i64(i64 %v139, i64 %v142)
  %v144 = extractvalue {i64, i1} %v143, 0
  store i64 %v144, ptr %x19
  %v145 = load ptr, ptr %x0
  %v146 = load i64, ptr %v145, !tbaa !2
  %v147 = load i64, ptr %x19
  %v148 = call {i64, i1} @llvm.ssub.with.overflow.i64(i64 %v147, i64 1)
  %v149 = extractvalue {i64, i1} %v148, 0
  %v150 = getelementptr i64, ptr %v145, i64 2
  %v151 = load ptr, ptr %v150, !tbaa !2
  %v152 = mul i64 %v149, 2
  %v153 = getelementptr i64, ptr %v151, i64 %v152
  %v154 = load i64, ptr %v153, !tbaa !4
  %v155 = getelementptr i64, ptr %v153, i64 1
  %v156 = load double, ptr %v155, !tbaa !3
  store i64 %v154, ptr %x20
  store double %v156, ptr %x21
  %v157 = load ptr, ptr %x0
  %v158 = load i64, ptr %v157, !tbaa !2
  %v159 = load i64, ptr %x19
  %v160 = getelementptr i64, ptr %v157, i64 2
  %v161 = load ptr, ptr %v160, !tbaa !2
  %v162 = mul i64 %v159, 2
  %v163 = getelementptr i64, ptr %v161, i64 %v162
  %v164 = load i64, ptr %x20
  %v165 = load double, ptr %x21
  store i64 %v164, ptr %v163, !tbaa !4
  %v166 = getelementptr i64, ptr %v163, i64 1
  store double %v165, ptr %v166, !tbaa !3
  br label %next135
next135:
  %v167 = load i64, ptr %x18
  %v168 = add i64 %v167, 1
  store i64 %v168, ptr %x18
  br label %head133
after136:
  %v169 = load ptr, ptr %x0
  %v170 = load i64, ptr %v169, !tbaa !2
  %v171 = load i64, ptr %x7
  %v172 = getelementptr i64, ptr %v169, i64 2
  %v173 = load ptr, ptr %v172, !tbaa !2
  %v174 = mul i64 %v171, 2
  %v175 = getelementptr i64, ptr %v173, i64 %v174
  %v176 = load i64, ptr %x5
  %v177 = load double, ptr %x6
  store i64 %v176, ptr %v175, !tbaa !4
  %v178 = getelementptr i64, ptr %v175, i64 1
  store double %v177, ptr %v178, !tbaa !3
  %v179 = load i64, ptr %x2
  %v180 = call {i64, i1} @llvm.sadd.with.overflow.i64(i64 %v179, i64 1)
  %v181 = extractvalue {i64, i1} %v180, 0
  store i64 %v181, ptr %x16
  br label %after90
after90:
  %v182 = load i64, ptr %x16
  store i64 %v182, ptr %x2
  br label %next19
next19:
  %v183 = load i64, ptr %x4
  %v184 = add i64 %v183, 1
  store i64 %v184, ptr %x4
  br label %head17
after20:
  %v185 = load ptr, ptr %x0
  %v186 = load i64, ptr %v185, !tbaa !2
  store i64 %v186, ptr %x22
  %v187 = load i64, ptr %x2
  %v188 = icmp slt i64 %v187, 0
  %v189 = load i64, ptr %x2
  %v190 = load i64, ptr %x22
  %v191 = call {i64, i1} @llvm.sadd.with.overflow.i64(i64 %v189, i64 %v190)
  %v192 = extractvalue {i64, i1} %v191, 0
  %v193 = load i64, ptr %x2
  %v194 = select i1 %v188, i64 %v192, i64 %v193
  %v195 = load i64, ptr %x22
  %v196 = icmp slt i64 %v194, %v195
  %v197 = select i1 %v196, i64 %v194, i64 %v195
  %v198 = icmp sgt i64 %v197, 0
  %v199 = select i1 %v198, i64 %v197, i64 0
  store i64 %v199, ptr %x23
  %v200 = call ptr @gendsl_new_list(ptr %ctx, i64 0, i64 4, i64 2)
  %v201 = icmp eq ptr %v200, null
  br i1 %v201, label %leave, label %ok202, !prof !20
ok202:
  store ptr %v200, ptr %x24
  %v203 = getelementptr i64, ptr %v200, i64 3
  %v204 = load i64, ptr %x23
  %v205 = load i64, ptr %x22
  %v206 = icmp sgt i64 %v204, %v205
  %v207 = select i1 %v206, i64 %v204, i64 %v205
  %v208 = load i64, ptr %x22
  store i64 %v207, ptr %x26
  br label %head209
head209:
  %v213 = load i64, ptr %x26
  store i64 %v213, ptr %x25
  %v214 = icmp slt i64 %v213, %v208
  br i1 %v214, label %loop210, label %after212
loop210:
  %v215 = load ptr, ptr %x0
  %v216 = load i64, ptr %v215, !tbaa !2
  %v217 = load i64, ptr %x25
  %v218 = getelementptr i64, ptr %v215, i64 2
  %v219 = load ptr, ptr %v218, !tbaa !2
  %v220 = mul i64 %v217, 2
  %v221 = getelementptr i64, ptr %v219, i64 %v220
  %v222 = load i64, ptr %v221, !tbaa !4
  %v223 = getelementptr i64, ptr %v221, i64 1
  %v224 = load double, ptr %v223, !tbaa !3
  store i64 %v222, ptr %x27
  store double %v224, ptr %x28
  %v225 = load ptr, ptr %x24
  %v226 = load i64, ptr %x27
  %v227 = load double, ptr %x28
  %v228 = load i64, ptr %v225, !tbaa !2
  %v229 = getelementptr i64, ptr %v225, i64 1
  %v230 = load i64, ptr %v229, !tbaa !2
  %v233 = icmp slt i64 %v228, %v230
  br i1 %v233, label %ready232, label %grow231
grow231:
  %v234 = call ptr @gendsl_grown(ptr %ctx, ptr %v225, i64 4, i64 2)
  %v235 = icmp eq ptr %v234, null
  br i1 %v235, label %leave, label %ready232, !prof !20
ready232:
  %v236 = getelementptr i64, ptr %v225, i64 2
  %v237 = load ptr, ptr %v236, !tbaa !2
  %v238 = mul i64 %v228, 2
  %v239 = getelementptr i64, ptr %v237, i64 %v238
  store i64 %v226, ptr %v239, !tbaa !4
  %v240 = getelementptr i64, ptr %v239, i64 1
  store double %v227, ptr %v240, !tbaa !3
  %v241 = add i64 %v228, 1
  store i64 %v241, ptr %v225, !tbaa !2
  br label %next211
next211:
  %v242 = load i64, ptr %x26
  %v243 = add i64 %v242, 1
  store i64 %v243, ptr %x26
  br label %head209
after212:
  %v244 = load i64, ptr %x23
  %v245 = load i64, ptr %x22
  %v246 = icmp slt i64 %v244, %v245
  %v247 = select i1 %v246, i64 %v244, i64 %v245
  %v248 = load ptr, ptr %x0
  store i64 %v247, ptr %v248, !tbaa !2
  %v249 = load ptr, ptr %x24
  %v250 = load i64, ptr %v249, !tbaa !2
  store i64 %v250, ptr %x29
  %v251 = load i64, ptr %x29
  store i64 0, ptr %x31
  br label %head252
head252:
  %v256 = load i64, ptr %x31
  store i64 %v256, ptr %x30
  %v257 = icmp slt i64 %v256, %v251
  br i1 %v257, label %loop253, label %after255
loop253:
  %v258 = load ptr, ptr %x24
  %v259 = load i64, ptr %v258, !tbaa !2
  %v260 = load i64, ptr %x30
  %v261 = getelementptr i64, ptr %v258, i64 2
  %v262 = load ptr, ptr %v261, !tbaa !2
  %v263 = mul i64 %v260, 2
  %v264 = getelementptr i64, ptr %v262, i64 %v263
  %v265 = load i64, ptr %v264, !tbaa !4
  %v266 = getelementptr i64, ptr %v264, i64 1
  %v267 = load double, ptr %v266, !tbaa !3
  store i64 %v265, ptr %x32
  store double %v267, ptr %x33
  %v268 = load ptr, ptr %x0
  %v269 = load i64, ptr %x32
  %v270 = load double, ptr %x33
  %v271 = load i64, ptr %v268, !tbaa !2
  %v272 = getelementptr i64, ptr %v268, i64 1
  %v273 = load i64, ptr %v272, !tbaa !2
  %v276 = icmp slt i64 %v271, %v273
  br i1 %v276, label %ready275, label %grow274
grow274:
  %v277 = call ptr @gendsl_grown(ptr %ctx, ptr %v268, i64 4, i64 2)
  %v278 = icmp eq ptr %v277, null
  br i1 %v278, label %leave, label %ready275, !prof !20
ready275:
  %v279 = getelementptr i64, ptr %v268, i64 2
  %v280 = load ptr, ptr %v279, !tbaa !2
  %v281 = mul i64 %v271, 2
  %v282 = getelementptr i64, ptr %v280, i64 %v281
  store i64 %v269, ptr %v282, !tbaa !4
  %v283 = getelementptr i64, ptr %v282, i64 1
  store double %v270, ptr %v283, !tbaa !3
  %v284 = add i64 %v271, 1
  store i64 %v284, ptr %v268, !tbaa !2
  br label %next254
next254:
  %v285 = load i64, ptr %x31
  %v286 = add i64 %v285, 1
  store i64 %v286, ptr %x31
  br label %head252
after255:
  ret {i32} zeroinitializer
leave:
  %v287 = phi i32 [2, %after20], [2, %grow231], [2, %grow274]
  %v288 = insertvalue {i32} zeroinitializer, i32 %v287, 0
  ret {i32} %v288
}

define {i32} @gendsl_slopes_add(ptr align 8 dereferenceable(544) %ctx, ptr %p0, double %p1, ptr %p2) noinline {
entry:
  %x0 = alloca ptr
  store ptr zeroinitializer, ptr %x0
  %x1 = alloca double
  store double zeroinitializer, ptr %x1
  %x2 = alloca ptr
  store ptr zeroinitializer, ptr %x2
  %x3 = alloca i64
  store i64 zeroinitializer, ptr %x3
  %x4 = alloca i64
  store i64 zeroinitializer, ptr %x4
  %x5 = alloca i64
  store i64 zeroinitializer, ptr %x5
  %x6 = alloca i64
  store i64 zeroinitializer, ptr %x6
  %x7 = alloca i64
  store i64 zeroinitializer, ptr %x7
  %x8 = alloca i64
  store i64 zeroinitializer, ptr %x8
  %x9 = alloca i64
  store i64 zeroinitializer, ptr %x9
  %x10 = alloca i64
  store i64 zeroinitializer, ptr %x10
  %x11 = alloca double
  store double zeroinitializer, ptr %x11
  %x12 = alloca i64
  store i64 zeroinitializer, ptr %x12
  %x13 = alloca i64
  store i64 zeroinitializer, ptr %x13
  %x14 = alloca i64
  store i64 zeroinitializer, ptr %x14
  %x15 = alloca i64
  store i64 zeroinitializer, ptr %x15
  %x16 = alloca double
  store double zeroinitializer, ptr %x16
  %x17 = alloca double
  store double zeroinitializer, ptr %x17
  %x18 = alloca i64
  store i64 zeroinitializer, ptr %x18
  %x19 = alloca double
  store double zeroinitializer, ptr %x19
  %x20 = alloca i1
  store i1 zeroinitializer, ptr %x20
  %x21 = alloca i64
  store i64 zeroinitializer, ptr %x21
  %x22 = alloca double
  store double zeroinitializer, ptr %x22
  %x23 = alloca i64
  store i64 zeroinitializer, ptr %x23
  %x24 = alloca i64
  store i64 zeroinitializer, ptr %x24
  %x25 = alloca i64
  store i64 zeroinitializer, ptr %x25
  %x26 = alloca double
  store double zeroinitializer, ptr %x26
  %x27 = alloca i1
  store i1 zeroinitializer, ptr %x27
  %x28 = alloca i64
  store i64 zeroinitializer, ptr %x28
  %x29 = alloca double
  store double zeroinitializer, ptr %x29
  %x30 = alloca i64
  store i64 zeroinitializer, ptr %x30
  %x31 = alloca double
  store double zeroinitializer, ptr %x31
  %x32 = alloca i64
  store i64 zeroinitializer, ptr %x32
  %x33 = alloca i64
  store i64 zeroinitializer, ptr %x33
  %x34 = alloca i64
  store i64 zeroinitializer, ptr %x34
  %x35 = alloca i64
  store i64 zeroinitializer, ptr %x35
  %x36 = alloca i64
  store i64 zeroinitializer, ptr %x36
  %x37 = alloca i64
  store i64 zeroinitializer, ptr %x37
  %x38 = alloca double
  store double zeroinitializer, ptr %x38
  %x39 = alloca i64
  store i64 zeroinitializer, ptr %x39
  %x40 = alloca i64
  store i64 zeroinitializer, ptr %x40
  %x41 = alloca i64
  store i64 zeroinitializer, ptr %x41
  %x42 = alloca i64
  store i64 zeroinitializer, ptr %x42
  %x43 = alloca ptr
  store ptr zeroinitializer, ptr %x43
  %x44 = alloca i64
  store i64 zeroinitializer, ptr %x44
  %x45 = alloca i64
  store i64 zeroinitializer, ptr %x45
  %x46 = alloca i64
  store i64 zeroinitializer, ptr %x46
  %x47 = alloca double
  store double zeroinitializer, ptr %x47
  %x48 = alloca i64
  store i64 zeroinitializer, ptr %x48
  %x49 = alloca i64
  store i64 zeroinitializer, ptr %x49
  %x50 = alloca i64
  store i64 zeroinitializer, ptr %x50
  %x51 = alloca i64
  store i64 zeroinitializer, ptr %x51
  %x52 = alloca double
  store double zeroinitializer, ptr %x52
  store ptr %p0, ptr %x0
  store double %p1, ptr %x1
  store ptr %p2, ptr %x2
  %v289 = load double, ptr %x1
  %v290 = fcmp une double %v289, 0x0000000000000000
  br i1 %v290, label %then291, label %else292
then291:
  %v294 = load ptr, ptr %x0
  %v295 = load i64, ptr %v294, !tbaa !2
  store i64 %v295, ptr %x3
  %v296 = load i64, ptr %x3
  %v297 = call {i64, i1} @llvm.ssub.with.overflow.i64(i64 %v296, i64 1)
  %v298 = extractvalue {i64, i1} %v297, 0
  store i64 %v298, ptr %x4
  %v299 = load ptr, ptr %x2
  %v300 = load i64, ptr %v299, !tbaa !2
  store i64 %v300, ptr %x5
  %v301 = load i64, ptr %x5
  %v302 = call {i64, i1} @llvm.ssub.with.overflow.i64(i64 %v301, i64 1)
  %v303 = extractvalue {i64, i1} %v302, 0
  store i64 %v303, ptr %x6
  store i64 0, ptr %x7
  %v304 = load i64, ptr %x4
  %v305 = load i64, ptr %x6
  %v306 = call {i64, i1} @llvm.sadd.with.overflow.i64(i64 %v304, i64 %v305)
  %v307 = extractvalue {i64, i1} %v306, 0
  %v308 = call {i64, i1} @llvm.sadd.with.overflow.i64(i64 %v307, i64 1)
  %v309 = extractvalue {i64, i1} %v308, 0
  store i64 %v309, ptr %x8
  br label %head310
head310:
  %v313 = load ptr, ptr %x2
  %v314 = load i64, ptr %v313, !tbaa !2
  store i64 %v314, ptr %x9
  %v315 = load i64, ptr %x7
  %v316 = load i64, ptr %x9
  %v317 = icmp sge i64 %v315, %v316
  br i1 %v317, label %then318, label %else319
then318:
  br label %after311
else319:
  %v321 = load ptr, ptr %x2
  %v322 = load i64, ptr %v321, !tbaa !2
  %v323 = load i64, ptr %x7
  %v324 = getelementptr i64, ptr %v321, i64 2
  %v325 = load ptr, ptr %v324, !tbaa !2
  %v326 = mul i64 %v323, 2
  %v327 = getelementptr i64, ptr %v325, i64 %v326
  %v328 = load i64, ptr %v327, !tbaa !4
  %v329 = getelementptr i64, ptr %v327, i64 1
  %v330 = load double, ptr %v329, !tbaa !3
  store i64 %v328, ptr %x10
  store double %v330, ptr %x11
  %v331 = load ptr, ptr %x0
  %v332 = load i64, ptr %x10
  %v333 = load double, ptr %x1
  %v334 = load double, ptr %x11
  %v335 = fmul double %v333, %v334
  %v336 = load i64, ptr %v331, !tbaa !2
  %v337 = getelementptr i64, ptr %v331, i64 1
  %v338 = load i64, ptr %v337, !tbaa !2
  %v341 = icmp slt i64 %v336, %v338
  br i1 %v341, label %ready340, label %grow339
grow339:
  %v342 = call ptr @gendsl_grown(ptr %ctx, ptr %v331, i64 4, i64 2)
  %v343 = icmp eq ptr %v342, null
  br i1 %v343, label %leave, label %ready340, !prof !20
ready340:
  %v344 = getelementptr i64, ptr %v331, i64 2
  %v345 = load ptr, ptr %v344, !tbaa !2
  %v346 = mul i64 %v336, 2
  %v347 = getelementptr i64, ptr %v345, i64 %v346
  store i64 %v332, ptr %v347, !tbaa !4
  %v348 = getelementptr i64, ptr %v347, i64 1
  store double %v335, ptr %v348, !tbaa !3
  %v349 = add i64 %v336, 1
  store i64 %v349, ptr %v331, !tbaa !2
  %v350 = load i64, ptr %x7
  %v351 = call {i64, i1} @llvm.sadd.with.overflow.i64(i64 %v350, i64 1)
  %v352 = extractvalue {i64, i1} %v351, 0
  store i64 %v352, ptr %x7
  br label %after320
after320:
  br label %next312
next312:
  br label %head310
after311:
  %v353 = load i64, ptr %x4
  store i64 %v353, ptr %x12
  %v354 = load i64, ptr %x6
  store i64 %v354, ptr %x13
  %v355 = load i64, ptr %x8
  store i64 %v355, ptr %x14
  br label %head356
head356:
  %v359 = load i64, ptr %x13
  %v360 = icmp sge i64 %v359, 0
  %v361 = xor i1 %v360, true
  br i1 %v361, label %then362, label %else363
then362:
  br label %after357
else363:
  %v365 = load ptr, ptr %x2
  %v366 = load i64, ptr %v365, !tbaa !2
  %v367 = load i64, ptr %x13
  %v368 = getelementptr i64, ptr %v365, i64 2
  %v369 = load ptr, ptr %v368, !tbaa !2
  %v370 = mul i64 %v367, 2
  %v371 = getelementptr i64, ptr %v369, i64 %v370
  %v372 = load i64, ptr %v371, !tbaa !4
  %v373 = getelementptr i64, ptr %v371, i64 1
  %v374 = load double, ptr %v373, !tbaa !3
  store i64 %v372, ptr %x15
  store double %v374, ptr %x16
  %v375 = load double, ptr %x16
  %v376 = load double, ptr %x1
  %v377 = fmul double %v375, %v376
  store double %v377, ptr %x17
  %v378 = load i64, ptr %x12
  %v379 = icmp sge i64 %v378, 0
  br i1 %v379, label %then380, label %else381
then380:
  %v383 = load ptr, ptr %x0
  %v384 = load i64, ptr %v383, !tbaa !2
  %v385 = load i64, ptr %x12
  %v386 = getelementptr i64, ptr %v383, i64 2
  %v387 = load ptr, ptr %v386, !tbaa !2
  %v388 = mul i64 %v385, 2
  %v389 = getelementptr i64, ptr %v387, i64 %v388
  %v390 = load i64, ptr %v389, !tbaa !4
  %v391 = getelementptr i64, ptr %v389, i64 1
  %v392 = load double, ptr %v391, !tbaa !3
  store i64 %v390, ptr %x18
  store double %v392, ptr %x19
  %v393 = load i64, ptr %x18
  %v394 = load i64, ptr %x15
  %v395 = icmp sgt i64 %v393, %v394
  store i1 %v395, ptr %x20
  br label %after382
else381:
  store i1 false, ptr %x20
  br label %after382
after382:
  %v396 = load i1, ptr %x20
  br i1 %v396, label %then397, label %else398
then397:
  %v400 = load ptr, ptr %x0
  %v401 = load i64, ptr %v400, !tbaa !2
  %v402 = load i64, ptr %x12
  %v403 = getelementptr i64, ptr %v400, i64 2
  %v404 = load ptr, ptr %v403, !tbaa !2
  %v405 = mul i64 %v402, 2
  %v406 = getelementptr i64, ptr %v404, i64 %v405
  %v407 = load i64, ptr %v406, !tbaa !4
  %v408 = getelementptr i64, ptr %v406, i64 1
  %v409 = load double, ptr %v408, !tbaa !3
  store i64 %v407, ptr %x21
  store double %v409, ptr %x22
  %v410 = load ptr, ptr %x0
  %v411 = load i64, ptr %v410, !tbaa !2
  %v412 = load i64, ptr %x14
  %v413 = getelementptr i64, ptr %v410, i64 2
  %v414 = load ptr, ptr %v413, !tbaa !2
  %v415 = mul i64 %v412, 2
  %v416 = getelementptr i64, ptr %v414, i64 %v415
  %v417 = load i64, ptr %x21
  %v418 = load double, ptr %x22
  store i64 %v417, ptr %v416, !tbaa !4
  %v419 = getelementptr i64, ptr %v416, i64 1
  store double %v418, ptr %v419, !tbaa !3
  %v420 = load i64, ptr %x12
  %v421 = call {i64, i1} @llvm.ssub.with.overflow.i64(i64 %v420, i64 1)
  %v422 = extractvalue {i64, i1} %v421, 0
  %v423 = load i64, ptr %x13
  store i64 %v422, ptr %x23
  store i64 %v423, ptr %x24
  br label %after399
else398:
  %v424 = load i64, ptr %x12
  %v425 = icmp sge i64 %v424, 0
  br i1 %v425, label %then426, label %else427
then426:
  %v429 = load ptr, ptr %x0
  %v430 = load i64, ptr %v429, !tbaa !2
  %v431 = load i64, ptr %x12
  %v432 = getelementptr i64, ptr %v429, i64 2
  %v433 = load ptr, ptr %v432, !tbaa !2
  %v434 = mul i64 %v431, 2
  %v435 = getelementptr i64, ptr %v433, i64 %v434
  %v436 = load i64, ptr %v435, !tbaa !4
  %v437 = getelementptr i64, ptr %v435, i64 1
  %v438 = load double, ptr %v437, !tbaa !3
  store i64 %v436, ptr %x25
  store double %v438, ptr %x26
  %v439 = load i64, ptr %x25
  %v440 = load i64, ptr %x15
  %v441 = icmp eq i64 %v439, %v440
  store i1 %v441, ptr %x27
  br label %after428
else427:
  store i1 false, ptr %x27
  br label %after428
after428:
  %v442 = load i1, ptr %x27
  br i1 %v442, label %then443, label %else444
then443:
  %v446 = load ptr, ptr %x0
  %v447 = load i64, ptr %v446, !tbaa !2
  %v448 = load i64, ptr %x12
  %v449 = getelementptr i64, ptr %v446, i64 2
  %v450 = load ptr, ptr %v449, !tbaa !2
  %v451 = mul i64 %v448, 2
  %v452 = getelementptr i64, ptr %v450, i64 %v451
  %v453 = load i64, ptr %v452, !tbaa !4
  %v454 = getelementptr i64, ptr %v452, i64 1
  %v455 = load double, ptr %v454, !tbaa !3
  store i64 %v453, ptr %x28
  store double %v455, ptr %x29
  %v456 = load i64, ptr %x12
  %v457 = call {i64, i1} @llvm.ssub.with.overflow.i64(i64 %v456, i64 1)
  %v458 = extractvalue {i64, i1} %v457, 0
  %v459 = load double, ptr %x17
  %v460 = load double, ptr %x29
  %v461 = fadd double %v459, %v460
  store i64 %v458, ptr %x30
  store double %v461, ptr %x31
  br label %after445
else444:
  %v462 = load i64, ptr %x12
  %v463 = load double, ptr %x17
  store i64 %v462, ptr %x30
  store double %v463, ptr %x31
  br label %after445
after445:
  %v464 = load ptr, ptr %x0
  %v465 = load i64, ptr %v464, !tbaa !2
  %v466 = load i64, ptr %x14
  %v467 = getelementptr i64, ptr %v464, i64 2
  %v468 = load ptr, ptr %v467, !tbaa !2
  %v469 = mul i64 %v466, 2
  %v470 = getelementptr i64, ptr %v468, i64 %v469
  %v471 = load i64, ptr %x15
  %v472 = load double, ptr %x31
  store i64 %v471, ptr %v470, !tbaa !4
  %v473 = getelementptr i64, ptr %v470, i64 1
  store double %v472, ptr %v473, !tbaa !3
  %v474 = load i64, ptr %x30
  %v475 = load i64, ptr %x13
  %v476 = call {i64, i1} @llvm.ssub.with.overflow.i64(i64 %v475, i64 1)
  %v477 = extractvalue {i64, i1} %v476, 0
  store i64 %v474, ptr %x23
  store i64 %v477, ptr %x24
  br label %after399
after399:
  %v478 = load i64, ptr %x23
  %v479 = load i64, ptr %x24
  %v480 = load i64, ptr %x14
  %v481 = call {i64, i1} @llvm.ssub.with.overflow.i64(i64 %v480, i64 1)
  %v482 = extractvalue {i64, i1} %v481, 0
  store i64 %v478, ptr %x12
  store i64 %v479, ptr %x13
  store i64 %v482, ptr %x14
  br label %after364
after364:
  br label %next358
next358:
  br label %head356
after357:
  %v483 = load i64, ptr %x14
  %v484 = load i64, ptr %x12
  %v485 = icmp sgt i64 %v483, %v484
  br i1 %v485, label %then486, label %else487
then486:
  %v489 = load i64, ptr %x14
  %v490 = call {i64, i1} @llvm.sadd.with.overflow.i64(i64 %v489, i64 1)
  %v491 = extractvalue {i64, i1} %v490, 0
  store i64 %v491, ptr %x32
  %v492 = load ptr, ptr %x0
  %v493 = load i64, ptr %v492, !tbaa !2
  store i64 %v493, ptr %x33
  %v494 = load i64, ptr %x32
  %v495 = load i64, ptr %x33
  %v496 = icmp sgt i64 1, 0
  %v497 = sub i64 %v495, %v494
  %v498 = sub i64 %v494, %v495
  %v499 = select i1 %v496, i64 %v497, i64 %v498
  %v500 = sub i64 0, 1
  %v501 = select i1 %v496, i64 1, i64 %v500
  %v502 = sub i64 %v501, 1
  %v503 = add i64 %v499, %v502
  %v504 = icmp eq i64 %v501, 0
  %v505 = select i1 %v504, i64 1, i64 %v501
  %v506 = sdiv i64 %v503, %v505
  %v507 = icmp sgt i64 %v499, 0
  %v508 = select i1 %v507, i64 %v506, i64 0
  store i64 0, ptr %x35
  br label %head509
head509:
  %v513 = load i64, ptr %x35
  store i64 %v513, ptr %x34
  %v514 = icmp slt i64 %v513, %v508
  br i1 %v514, label %loop510, label %after512
loop510:
  %v515 = load i64, ptr %x32
  %v516 = load i64, ptr %x34
  %v517 = call {i64, i1} @llvm.sadd.with.overflow.i64(i64 %v515, i64 %v516)
  %v518 = extractvalue {i64, i1} %v517, 0
  store i64 %v518, ptr %x36
  %v519 = load ptr, ptr %x0
  %v520 = load i64, ptr %v519, !tbaa !2
  %v521 = load i64, ptr %x36
  %v522 = getelementptr i64, ptr %v519, i64 2
  %v523 = load ptr, ptr %v522, !tbaa !2
  %v524 = mul i64 %v521, 2
  %v525 = getelementptr i64, ptr %v523, i64 %v524
  %v526 = load i64, ptr %v525, !tbaa !4
  %v527 = getelementptr i64, ptr %v525, i64 1
  %v528 = load double, ptr %v527, !tbaa !3
  store i64 %v526, ptr %x37
  store double %v528, ptr %x38
  %v529 = load ptr, ptr %x0
  %v530 = load i64, ptr %v529, !tbaa !2
  %v531 = load i64, ptr %x36
  %v532 = load i64, ptr %x14
  %v533 = call {i64, i1} @llvm.ssub.with.overflow.i64(i64 %v531, i64 %v532)
  %v534 = extractvalue {i64, i1} %v533, 0
  %v535 = load i64, ptr %x12
  %v536 = call {i64, i1} @llvm.sadd.with.overflow.i64(i64 %v534, i64 %v535)
  %v537 = extractvalue {i64, i1} %v536, 0
  %v538 = getelementptr i64, ptr %v529, i64 2
  %v539 = load ptr, ptr %v538, !tbaa !2
  %v540 = mul i64 %v537, 2
  %v541 = getelementptr i64, ptr %v539, i64 %v540
  %v542 = load i64, ptr %x37
  %v543 = load double, ptr %x38
  store i64 %v542, ptr %v541, !tbaa !4
  %v544 = getelementptr i64, ptr %v541, i64 1
  store double %v543, ptr %v544, !tbaa !3
  br label %next511
next511:
  %v545 = load i64, ptr %x35
  %v546 = add i64 %v545, 1
  store i64 %v546, ptr %x35
  br label %head509
after512:
  %v547 = load ptr, ptr %x0
  %v548 = load i64, ptr %v547, !tbaa !2
  store i64 %v548, ptr %x39
  %v549 = load ptr, ptr %x0
  %v550 = load i64, ptr %v549, !tbaa !2
  store i64 %v550, ptr %x40
  %v551 = load i64, ptr %x40
  %v552 = load i64, ptr %x14
  %v553 = call {i64, i1} @llvm.ssub.with.overflow.i64(i64 %v551, i64 %v552)
  %v554 = extractvalue {i64, i1} %v553, 0
  %v555 = load i64, ptr %x12
  %v556 = call {i64, i1} @llvm.sadd.with.overflow.i64(i64 %v554, i64 %v555)
  %v557 = extractvalue {i64, i1} %v556, 0
  store i64 %v557, ptr %x41
  %v558 = load i64, ptr %x41
  %v559 = icmp slt i64 %v558, 0
  %v560 = load i64, ptr %x41
  %v561 = load i64, ptr %x39
  %v562 = call {i64, i1} @llvm.sadd.with.overflow.i64(i64 %v560, i64 %v561)
  %v563 = extractvalue {i64, i1} %v562, 0
  %v564 = load i64, ptr %x41
  %v565 = select i1 %v559, i64 %v563, i64 %v564
  %v566 = load i64, ptr %x39
  %v567 = icmp slt i64 %v565, %v566
  %v568 = select i1 %v567, i64 %v565, i64 %v566
  %v569 = icmp sgt i64 %v568, 0
  %v570 = select i1 %v569, i64 %v568, i64 0
  store i64 %v570, ptr %x42
  %v571 = call ptr @gendsl_new_list(ptr %ctx, i64 0, i64 4, i64 2)
  %v572 = icmp eq ptr %v571, null
  br i1 %v572, label %leave, label %ok573, !prof !20
ok573:
  store ptr %v571, ptr %x43
  %v574 = getelementptr i64, ptr %v571, i64 3
  %v575 = load i64, ptr %x42
  %v576 = load i64, ptr %x39
  %v577 = icmp sgt i64 %v575, %v576
  %v578 = select i1 %v577, i64 %v575, i64 %v576
  %v579 = load i64, ptr %x39
  store i64 %v578, ptr %x45
  br label %head580
head580:
  %v584 = load i64, ptr %x45
  store i64 %v584, ptr %x44
  %v585 = icmp slt i64 %v584, %v579
  br i1 %v585, label %loop581, label %after583
loop581:
  %v586 = load ptr, ptr %x0
  %v587 = load i64, ptr %v586, !tbaa !2
  %v588 = load i64, ptr %x44
  %v589 = getelementptr i64, ptr %v586, i64 2
  %v590 = load ptr, ptr %v589, !tbaa !2
  %v591 = mul i64 %v588, 2
  %v592 = getelementptr i64, ptr %v590, i64 %v591
  %v593 = load i64, ptr %v592, !tbaa !4
  %v594 = getelementptr i64, ptr %v592, i64 1
  %v595 = load double, ptr %v594, !tbaa !3
  store i64 %v593, ptr %x46
  store double %v595, ptr %x47
  %v596 = load ptr, ptr %x43
  %v597 = load i64, ptr %x46
  %v598 = load double, ptr %x47
  %v599 = load i64, ptr %v596, !tbaa !2
  %v600 = getelementptr i64, ptr %v596, i64 1
  %v601 = load i64, ptr %v600, !tbaa !2
  %v604 = icmp slt i64 %v599, %v601
  br i1 %v604, label %ready603, label %grow602
grow602:
  %v605 = call ptr @gendsl_grown(ptr %ctx, ptr %v596, i64 4, i64 2)
  %v606 = icmp eq ptr %v605, null
  br i1 %v606, label %leave, label %ready603, !prof !20
ready603:
  %v607 = getelementptr i64, ptr %v596, i64 2
  %v608 = load ptr, ptr %v607, !tbaa !2
  %v609 = mul i64 %v599, 2
  %v610 = getelementptr i64, ptr %v608, i64 %v609
  store i64 %v597, ptr %v610, !tbaa !4
  %v611 = getelementptr i64, ptr %v610, i64 1
  store double %v598, ptr %v611, !tbaa !3
  %v612 = add i64 %v599, 1
  store i64 %v612, ptr %v596, !tbaa !2
  br label %next582
next582:
  %v613 = load i64, ptr %x45
  %v614 = add i64 %v613, 1
  store i64 %v614, ptr %x45
  br label %head580
after583:
  %v615 = load i64, ptr %x42
  %v616 = load i64, ptr %x39
  %v617 = icmp slt i64 %v615, %v616
  %v618 = select i1 %v617, i64 %v615, i64 %v616
  %v619 = load ptr, ptr %x0
  store i64 %v618, ptr %v619, !tbaa !2
  %v620 = load ptr, ptr %x43
  %v621 = load i64, ptr %v620, !tbaa !2
  store i64 %v621, ptr %x48
  %v622 = load i64, ptr %x48
  store i64 0, ptr %x50
  br label %head623
head623:
  %v627 = load i64, ptr %x50
  store i64 %v627, ptr %x49
  %v628 = icmp slt i64 %v627, %v622
  br i1 %v628, label %loop624, label %after626
loop624:
  %v629 = load ptr, ptr %x43
  %v630 = load i64, ptr %v629, !tbaa !2
  %v631 = load i64, ptr %x49
  %v632 = getelementptr i64, ptr %v629, i64 2
  %v633 = load ptr, ptr %v632, !tbaa !2
  %v634 = mul i64 %v631, 2
  %v635 = getelementptr i64, ptr %v633, i64 %v634
  %v636 = load i64, ptr %v635, !tbaa !4
  %v637 = getelementptr i64, ptr %v635, i64 1
  %v638 = load double, ptr %v637, !tbaa !3
  store i64 %v636, ptr %x51
  store double %v638, ptr %x52
  %v639 = load ptr, ptr %x0
  %v640 = load i64, ptr %x51
  %v641 = load double, ptr %x52
  %v642 = load i64, ptr %v639, !tbaa !2
  %v643 = getelementptr i64, ptr %v639, i64 1
  %v644 = load i64, ptr %v643, !tbaa !2
  %v647 = icmp slt i64 %v642, %v644
  br i1 %v647, label %ready646, label %grow645
grow645:
  %v648 = call ptr @gendsl_grown(ptr %ctx, ptr %v639, i64 4, i64 2)
  %v649 = icmp eq ptr %v648, null
  br i1 %v649, label %leave, label %ready646, !prof !20
ready646:
  %v650 = getelementptr i64, ptr %v639, i64 2
  %v651 = load ptr, ptr %v650, !tbaa !2
  %v652 = mul i64 %v642, 2
  %v653 = getelementptr i64, ptr %v651, i64 %v652
  store i64 %v640, ptr %v653, !tbaa !4
  %v654 = getelementptr i64, ptr %v653, i64 1
  store double %v641, ptr %v654, !tbaa !3
  %v655 = add i64 %v642, 1
  store i64 %v655, ptr %v639, !tbaa !2
  br label %next625
next625:
  %v656 = load i64, ptr %x50
  %v657 = add i64 %v656, 1
  store i64 %v657, ptr %x50
  br label %head623
after626:
  br label %after488
else487:
  br label %after488
after488:
  br label %after293
else292:
  br label %after293
after293:
  ret {i32} zeroinitializer
leave:
  %v658 = phi i32 [2, %grow339], [2, %after512], [2, %grow602], [2, %grow645]
  %v659 = insertvalue {i32} zeroinitializer, i32 %v658, 0
  ret {i32} %v659
}

define {i32, ptr, ptr, ptr} @gendsl_slopes_transposed(ptr align 8 dereferenceable(544) %ctx, ptr %p0, ptr %p1, ptr %p2) noinline {
entry:
  %x0 = alloca ptr
  store ptr zeroinitializer, ptr %x0
  %x1 = alloca ptr
  store ptr zeroinitializer, ptr %x1
  %x2 = alloca ptr
  store ptr zeroinitializer, ptr %x2
  %x3 = alloca i64
  store i64 zeroinitializer, ptr %x3
  %x4 = alloca i64
  store i64 zeroinitializer, ptr %x4
  %x5 = alloca i64
  store i64 zeroinitializer, ptr %x5
  %x6 = alloca ptr
  store ptr zeroinitializer, ptr %x6
  %x7 = alloca i64
  store i64 zeroinitializer, ptr %x7
  %x8 = alloca ptr
  store ptr zeroinitializer, ptr %x8
  %x9 = alloca i64
  store i64 zeroinitializer, ptr %x9
  %x10 = alloca ptr
  store ptr zeroinitializer, ptr %x10
  %x11 = alloca i64
  store i64 zeroinitializer, ptr %x11
  %x12 = alloca i64
  store i64 zeroinitializer, ptr %x12
  %x13 = alloca i64
  store i64 zeroinitializer, ptr %x13
  %x14 = alloca i64
  store i64 zeroinitializer, ptr %x14
  %x15 = alloca i64
  store i64 zeroinitializer, ptr %x15
  %x16 = alloca i64
  store i64 zeroinitializer, ptr %x16
  %x17 = alloca i64
  store i64 zeroinitializer, ptr %x17
  %x18 = alloca i64
  store i64 zeroinitializer, ptr %x18
  %x19 = alloca i64
  store i64 zeroinitializer, ptr %x19
  %x20 = alloca i64
  store i64 zeroinitializer, ptr %x20
  %x21 = alloca i64
  store i64 zeroinitializer, ptr %x21
  %x22 = alloca ptr
  store ptr zeroinitializer, ptr %x22
  %x23 = alloca i64
  store i64 zeroinitializer, ptr %x23
  %x24 = alloca i64
  store i64 zeroinitializer, ptr %x24
  %x25 = alloca i64
  store i64 zeroinitializer, ptr %x25
  %x26 = alloca i64
  store i64 zeroinitializer, ptr %x26
  %x27 = alloca i64
  store i64 zeroinitializer, ptr %x27
  %x28 = alloca i64
  store i64 zeroinitializer, ptr %x28
  %x29 = alloca i64
  store i64 zeroinitializer, ptr %x29
  %x30 = alloca i64
  store i64 zeroinitializer, ptr %x30
  %x31 = alloca i64
  store i64 zeroinitializer, ptr %x31
  %x32 = alloca i64
  store i64 zeroinitializer, ptr %x32
  %x33 = alloca i64
  store i64 zeroinitializer, ptr %x33
  %x34 = alloca i64
  store i64 zeroinitializer, ptr %x34
  %x35 = alloca double
  store double zeroinitializer, ptr %x35
  %x36 = alloca i64
  store i64 zeroinitializer, ptr %x36
  store ptr %p0, ptr %x0
  store ptr %p1, ptr %x1
  store ptr %p2, ptr %x2
  %v660 = load ptr, ptr %x0
  %v661 = load i64, ptr %v660, !tbaa !2
  store i64 %v661, ptr %x3
  %v662 = load i64, ptr %x3
  %v663 = call {i64, i1} @llvm.ssub.with.overflow.i64(i64 %v662, i64 1)
  %v664 = extractvalue {i64, i1} %v663, 0
  store i64 %v664, ptr %x4
  %v665 = load ptr, ptr %x0
  %v666 = load i64, ptr %v665, !tbaa !2
  %v667 = add i64 -1, %v666
  %v668 = getelementptr i64, ptr %v665, i64 2
  %v669 = load ptr, ptr %v668, !tbaa !2
  %v670 = getelementptr i64, ptr %v669, i64 %v667
  %v671 = load i64, ptr %v670, !tbaa !4
  store i64 %v671, ptr %x5
  %v672 = load i64, ptr %x4
  %v673 = call {i64, i1} @llvm.sadd.with.overflow.i64(i64 %v672, i64 1)
  %v674 = extractvalue {i64, i1} %v673, 0
  %v675 = icmp slt i64 %v674, 0
  %v676 = select i1 %v675, i64 0, i64 %v674
  %v677 = icmp ugt i64 %v676, 1000000000
  br i1 %v677, label %failed, label %ok678, !prof !20
ok678:
  %v679 = call ptr @gendsl_new_list(ptr %ctx, i64 %v676, i64 %v676, i64 1)
  %v680 = icmp eq ptr %v679, null
  br i1 %v680, label %leave, label %ok681, !prof !20
ok681:
  store ptr %v679, ptr %x6
  %v682 = getelementptr i64, ptr %v679, i64 3
  store i64 0, ptr %x7
  br label %head683
head683:
  %v686 = load i64, ptr %x7
  %v687 = icmp slt i64 %v686, %v676
  br i1 %v687, label %each684, label %after685
each684:
  %v688 = mul i64 %v686, 1
  %v689 = getelementptr i64, ptr %v682, i64 %v688
  store i64 0, ptr %v689, !tbaa !4
  %v690 = add i64 %v686, 1
  store i64 %v690, ptr %x7
  br label %head683
after685:
  %v691 = load i64, ptr %x5
  %v692 = icmp slt i64 %v691, 0
  %v693 = select i1 %v692, i64 0, i64 %v691
  %v694 = icmp ugt i64 %v693, 1000000000
  br i1 %v694, label %failed, label %ok695, !prof !20
ok695:
  %v696 = call ptr @gendsl_new_list(ptr %ctx, i64 %v693, i64 %v693, i64 1)
  %v697 = icmp eq ptr %v696, null
  br i1 %v697, label %leave, label %ok698, !prof !20
ok698:
  store ptr %v696, ptr %x8
  %v699 = getelementptr i64, ptr %v696, i64 3
  store i64 0, ptr %x9
  br label %head700
head700:
  %v703 = load i64, ptr %x9
  %v704 = icmp slt i64 %v703, %v693
  br i1 %v704, label %each701, label %after702
each701:
  %v705 = mul i64 %v703, 1
  %v706 = getelementptr i64, ptr %v699, i64 %v705
  store i64 0, ptr %v706, !tbaa !4
  %v707 = add i64 %v703, 1
  store i64 %v707, ptr %x9
  br label %head700
after702:
  %v708 = load i64, ptr %x5
  %v709 = icmp slt i64 %v708, 0
  %v710 = select i1 %v709, i64 0, i64 %v708
  %v711 = icmp ugt i64 %v710, 1000000000
  br i1 %v711, label %failed, label %ok712, !prof !20
ok712:
  %v713 = call ptr @gendsl_new_list(ptr %ctx, i64 %v710, i64 %v710, i64 1)
  %v714 = icmp eq ptr %v713, null
  br i1 %v714, label %leave, label %ok715, !prof !20
ok715:
  store ptr %v713, ptr %x10
  %v716 = getelementptr i64, ptr %v713, i64 3
  store i64 0, ptr %x11
  br label %head717
head717:
  %v720 = load i64, ptr %x11
  %v721 = icmp slt i64 %v720, %v710
  br i1 %v721, label %each718, label %after719
each718:
  %v722 = mul i64 %v720, 1
  %v723 = getelementptr i64, ptr %v716, i64 %v722
  store double 0x0000000000000000, ptr %v723, !tbaa !3
  %v724 = add i64 %v720, 1
  store i64 %v724, ptr %x11
  br label %head717
after719:
  %v725 = load i64, ptr %x5
  store i64 0, ptr %x13
  br label %head726
head726:
  %v730 = load i64, ptr %x13
  store i64 %v730, ptr %x12
  %v731 = icmp slt i64 %v730, %v725
  br i1 %v731, label %loop727, label %after729
loop727:
  %v732 = load ptr, ptr %x1
  %v733 = load i64, ptr %v732, !tbaa !2
  %v734 = load i64, ptr %x12
  %v735 = getelementptr i64, ptr %v732, i64 2
  %v736 = load ptr, ptr %v735, !tbaa !2
  %v737 = getelementptr i64, ptr %v736, i64 %v734
  %v738 = load i64, ptr %v737, !tbaa !4
  store i64 %v738, ptr %x14
  %v739 = load i64, ptr %x14
  %v740 = call {i64, i1} @llvm.sadd.with.overflow.i64(i64 %v739, i64 1)
  %v741 = extractvalue {i64, i1} %v740, 0
  store i64 %v741, ptr %x15
  %v742 = load ptr, ptr %x6
  %v743 = load i64, ptr %v742, !tbaa !2
  %v744 = load i64, ptr %x15
  %v745 = getelementptr i64, ptr %v742, i64 2
  %v746 = load ptr, ptr %v745, !tbaa !2
  %v747 = getelementptr i64, ptr %v746, i64 %v744
  %v748 = load i64, ptr %v747, !tbaa !4
  store i64 %v748, ptr %x16
  %v749 = load ptr, ptr %x6
  %v750 = load i64, ptr %v749, !tbaa !2
  %v751 = load i64, ptr %x15
  %v752 = getelementptr i64, ptr %v749, i64 2
  %v753 = load ptr, ptr %v752, !tbaa !2
  %v754 = getelementptr i64, ptr %v753, i64 %v751
  %v755 = load i64, ptr %x16
  %v756 = call {i64, i1} @llvm.sadd.with.overflow.i64(i64 %v755, i64 1)
  %v757 = extractvalue {i64, i1} %v756, 0
  store i64 %v757, ptr %v754, !tbaa !4
  br label %next728
next728:
  %v758 = load i64, ptr %x13
  %v759 = add i64 %v758, 1
  store i64 %v759, ptr %x13
  br label %head726
after729:
  %v760 = load i64, ptr %x4
  store i64 0, ptr %x18
  br label %head761
head761:
  %v765 = load i64, ptr %x18
  store i64 %v765, ptr %x17
  %v766 = icmp slt i64 %v765, %v760
  br i1 %v766, label %loop762, label %after764
loop762:
  %v767 = load i64, ptr %x17
  %v768 = call {i64, i1} @llvm.sadd.with.overflow.i64(i64 %v767, i64 1)
  %v769 = extractvalue {i64, i1} %v768, 0
  store i64 %v769, ptr %x19
  %v770 = load ptr, ptr %x6
  %v771 = load i64, ptr %v770, !tbaa !2
  %v772 = load i64, ptr %x19
  %v773 = getelementptr i64, ptr %v770, i64 2
  %v774 = load ptr, ptr %v773, !tbaa !2
  %v775 = getelementptr i64, ptr %v774, i64 %v772
  %v776 = load i64, ptr %v775, !tbaa !4
  store i64 %v776, ptr %x20
  %v777 = load ptr, ptr %x6
  %v778 = load i64, ptr %v777, !tbaa !2
  %v779 = load i64, ptr %x17
  %v780 = getelementptr i64, ptr %v777, i64 2
  %v781 = load ptr, ptr %v780, !tbaa !2
  %v782 = getelementptr i64, ptr %v781, i64 %v779
  %v783 = load i64, ptr %v782, !tbaa !4
  store i64 %v783, ptr %x21
  %v784 = load ptr, ptr %x6
  %v785 = load i64, ptr %v784, !tbaa !2
  %v786 = load i64, ptr %x19
  %v787 = getelementptr i64, ptr %v784, i64 2
  %v788 = load ptr, ptr %v787, !tbaa !2
  %v789 = getelementptr i64, ptr %v788, i64 %v786
  %v790 = load i64, ptr %x20
  %v791 = load i64, ptr %x21
  %v792 = call {i64, i1} @llvm.sadd.with.overflow.i64(i64 %v790, i64 %v791)
  %v793 = extractvalue {i64, i1} %v792, 0
  store i64 %v793, ptr %v789, !tbaa !4
  br label %next763
next763:
  %v794 = load i64, ptr %x18
  %v795 = add i64 %v794, 1
  store i64 %v795, ptr %x18
  br label %head761
after764:
  %v796 = load i64, ptr %x4
  %v797 = icmp slt i64 %v796, 0
  %v798 = select i1 %v797, i64 0, i64 %v796
  %v799 = icmp ugt i64 %v798, 1000000000
  br i1 %v799, label %failed, label %ok800, !prof !20
ok800:
  %v801 = call ptr @gendsl_new_list(ptr %ctx, i64 %v798, i64 %v798, i64 1)
  %v802 = icmp eq ptr %v801, null
  br i1 %v802, label %leave, label %ok803, !prof !20
ok803:
  store ptr %v801, ptr %x22
  %v804 = getelementptr i64, ptr %v801, i64 3
  store i64 0, ptr %x23
  br label %head805
head805:
  %v808 = load i64, ptr %x23
  %v809 = icmp slt i64 %v808, %v798
  br i1 %v809, label %each806, label %after807
each806:
  %v810 = mul i64 %v808, 1
  %v811 = getelementptr i64, ptr %v804, i64 %v810
  store i64 0, ptr %v811, !tbaa !4
  %v812 = add i64 %v808, 1
  store i64 %v812, ptr %x23
  br label %head805
after807:
  %v813 = load i64, ptr %x4
  store i64 0, ptr %x25
  br label %head814
head814:
  %v818 = load i64, ptr %x25
  store i64 %v818, ptr %x24
  %v819 = icmp slt i64 %v818, %v813
  br i1 %v819, label %loop815, label %after817
loop815:
  %v820 = load ptr, ptr %x0
  %v821 = load i64, ptr %v820, !tbaa !2
  %v822 = load i64, ptr %x24
  %v823 = getelementptr i64, ptr %v820, i64 2
  %v824 = load ptr, ptr %v823, !tbaa !2
  %v825 = getelementptr i64, ptr %v824, i64 %v822
  %v826 = load i64, ptr %v825, !tbaa !4
  store i64 %v826, ptr %x26
  %v827 = load ptr, ptr %x0
  %v828 = load i64, ptr %v827, !tbaa !2
  %v829 = load i64, ptr %x24
  %v830 = call {i64, i1} @llvm.sadd.with.overflow.i64(i64 %v829, i64 1)
  %v831 = extractvalue {i64, i1} %v830, 0
  %v832 = getelementptr i64, ptr %v827, i64 2
  %v833 = load ptr, ptr %v832, !tbaa !2
  %v834 = getelementptr i64, ptr %v833, i64 %v831
  %v835 = load i64, ptr %v834, !tbaa !4
  store i64 %v835, ptr %x27
  %v836 = load i64, ptr %x26
  %v837 = load i64, ptr %x27
  %v838 = icmp sgt i64 1, 0
  %v839 = sub i64 %v837, %v836
  %v840 = sub i64 %v836, %v837
  %v841 = select i1 %v838, i64 %v839, i64 %v840
  %v842 = sub i64 0, 1
  %v843 = select i1 %v838, i64 1, i64 %v842
  %v844 = sub i64 %v843, 1
  %v845 = add i64 %v841, %v844
  %v846 = icmp eq i64 %v843, 0
  %v847 = select i1 %v846, i64 1, i64 %v843
  %v848 = sdiv i64 %v845, %v847
  %v849 = icmp sgt i64 %v841, 0
  %v850 = select i1 %v849, i64 %v848, i64 0
  store i64 0, ptr %x29
  br label %head851
head851:
  %v855 = load i64, ptr %x29
  store i64 %v855, ptr %x28
  %v856 = icmp slt i64 %v855, %v850
  br i1 %v856, label %loop852, label %after854
loop852:
  %v857 = load i64, ptr %x26
  %v858 = load i64, ptr %x28
  %v859 = call {i64, i1} @llvm.sadd.with.overflow.i64(i64 %v857, i64 %v858)
  %v860 = extractvalue {i64, i1} %v859, 0
  store i64 %v860, ptr %x30
  %v861 = load ptr, ptr %x1
  %v862 = load i64, ptr %v861, !tbaa !2
  %v863 = load i64, ptr %x30
  %v864 = getelementptr i64, ptr %v861, i64 2
  %v865 = load ptr, ptr %v864, !tbaa !2
  %v866 = getelementptr i64, ptr %v865, i64 %v863
  %v867 = load i64, ptr %v866, !tbaa !4
  store i64 %v867, ptr %x31
  %v868 = load ptr, ptr %x6
  %v869 = load i64, ptr %v868, !tbaa !2
  %v870 = load i64, ptr %x31
  %v871 = getelementptr i64, ptr %v868, i64 2
  %v872 = load ptr, ptr %v871, !tbaa !2
  %v873 = getelementptr i64, ptr %v872, i64 %v870
  %v874 = load i64, ptr %v873, !tbaa !4
  store i64 %v874, ptr %x32
  %v875 = load ptr, ptr %x22
  %v876 = load i64, ptr %v875, !tbaa !2
  %v877 = load i64, ptr %x31
  %v878 = getelementptr i64, ptr %v875, i64 2
  %v879 = load ptr, ptr %v878, !tbaa !2
  %v880 = getelementptr i64, ptr %v879, i64 %v877
  %v881 = load i64, ptr %v880, !tbaa !4
  store i64 %v881, ptr %x33
  %v882 = load i64, ptr %x32
  %v883 = load i64, ptr %x33
  %v884 = call {i64, i1} @llvm.sadd.with.overflow.i64(i64 %v882, i64 %v883)
  %v885 = extractvalue {i64, i1} %v884, 0
  store i64 %v885, ptr %x34
  %v886 = load ptr, ptr %x8
  %v887 = load i64, ptr %v886, !tbaa !2
  %v888 = load i64, ptr %x34
  %v889 = getelementptr i64, ptr %v886, i64 2
  %v890 = load ptr, ptr %v889, !tbaa !2
  %v891 = getelementptr i64, ptr %v890, i64 %v888
  %v892 = load i64, ptr %x24
  store i64 %v892, ptr %v891, !tbaa !4
  %v893 = load ptr, ptr %x2
  %v894 = load i64, ptr %v893, !tbaa !2
  %v895 = load i64, ptr %x30
  %v896 = getelementptr i64, ptr %v893, i64 2
  %v897 = load ptr, ptr %v896, !tbaa !2
  %v898 = getelementptr i64, ptr %v897, i64 %v895
  %v899 = load double, ptr %v898, !tbaa !3
  store double %v899, ptr %x35
  %v900 = load ptr, ptr %x10
  %v901 = load i64, ptr %v900, !tbaa !2
  %v902 = load i64, ptr %x34
  %v903 = getelementptr i64, ptr %v900, i64 2
  %v904 = load ptr, ptr %v903, !tbaa !2
  %v905 = getelementptr i64, ptr %v904, i64 %v902
  %v906 = load double, ptr %x35
  store double %v906, ptr %v905, !tbaa !3
  %v907 = load ptr, ptr %x22
  %v908 = load i64, ptr %v907, !tbaa !2
  %v909 = load i64, ptr %x31
  %v910 = getelementptr i64, ptr %v907, i64 2
  %v911 = load ptr, ptr %v910, !tbaa !2
  %v912 = getelementptr i64, ptr %v911, i64 %v909
  %v913 = load i64, ptr %v912, !tbaa !4
  store i64 %v913, ptr %x36
  %v914 = load ptr, ptr %x22
  %v915 = load i64, ptr %v914, !tbaa !2
  %v916 = load i64, ptr %x31
  %v917 = getelementptr i64, ptr %v914, i64 2
  %v918 = load ptr, ptr %v917, !tbaa !2
  %v919 = getelementptr i64, ptr %v918, i64 %v916
  %v920 = load i64, ptr %x36
  %v921 = call {i64, i1} @llvm.sadd.with.overflow.i64(i64 %v920, i64 1)
  %v922 = extractvalue {i64, i1} %v921, 0
  store i64 %v922, ptr %v919, !tbaa !4
  br label %next853
next853:
  %v923 = load i64, ptr %x29
  %v924 = add i64 %v923, 1
  store i64 %v924, ptr %x29
  br label %head851
after854:
  br label %next816
next816:
  %v925 = load i64, ptr %x25
  %v926 = add i64 %v925, 1
  store i64 %v926, ptr %x25
  br label %head814
after817:
  %v927 = load ptr, ptr %x6
  %v928 = insertvalue {i32, ptr, ptr, ptr} zeroinitializer, ptr %v927, 1
  %v929 = load ptr, ptr %x8
  %v930 = insertvalue {i32, ptr, ptr, ptr} %v928, ptr %v929, 2
  %v931 = load ptr, ptr %x10
  %v932 = insertvalue {i32, ptr, ptr, ptr} %v930, ptr %v931, 3
  ret {i32, ptr, ptr, ptr} %v932
failed:
  %v933 = phi i64 [0, %entry], [1, %after685], [2, %after702], [3, %after764]
  %v934 = getelementptr i64, ptr %ctx, i64 2
  store i64 %v933, ptr %v934, !tbaa !1
  br label %leave
leave:
  %v935 = phi i32 [2, %ok678], [2, %ok695], [2, %ok712], [2, %ok800], [1, %failed]
  %v936 = insertvalue {i32, ptr, ptr, ptr} zeroinitializer, i32 %v935, 0
  ret {i32, ptr, ptr, ptr} %v936
}

define {i32, double, i64} @gendsl_slopes_taken_out(ptr align 8 dereferenceable(544) %ctx, ptr %p0, ptr %p1, ptr %p2, ptr %p3, ptr %p4) noinline {
entry:
  %x0 = alloca ptr
  store ptr zeroinitializer, ptr %x0
  %x1 = alloca ptr
  store ptr zeroinitializer, ptr %x1
  %x2 = alloca ptr
  store ptr zeroinitializer, ptr %x2
  %x3 = alloca ptr
  store ptr zeroinitializer, ptr %x3
  %x4 = alloca ptr
  store ptr zeroinitializer, ptr %x4
  %x5 = alloca i64
  store i64 zeroinitializer, ptr %x5
  %x6 = alloca ptr
  store ptr zeroinitializer, ptr %x6
  %x7 = alloca i64
  store i64 zeroinitializer, ptr %x7
  %x8 = alloca ptr
  store ptr zeroinitializer, ptr %x8
  %x9 = alloca i64
  store i64 zeroinitializer, ptr %x9
  %x10 = alloca ptr
  store ptr zeroinitializer, ptr %x10
  %x11 = alloca i64
  store i64 zeroinitializer, ptr %x11
  %x12 = alloca i64
  store i64 zeroinitializer, ptr %x12
  %x13 = alloca i64
  store i64 zeroinitializer, ptr %x13
  %x14 = alloca i1
  store i1 zeroinitializer, ptr %x14
  %x15 = alloca i64
  store i64 zeroinitializer, ptr %x15
  %x16 = alloca i64
  store i64 zeroinitializer, ptr %x16
  %x17 = alloca i64
  store i64 zeroinitializer, ptr %x17
  %x18 = alloca i64
  store i64 zeroinitializer, ptr %x18
  %x19 = alloca i64
  store i64 zeroinitializer, ptr %x19
  %x20 = alloca i64
  store i64 zeroinitializer, ptr %x20
  %x21 = alloca i64
  store i64 zeroinitializer, ptr %x21
  %x22 = alloca i64
  store i64 zeroinitializer, ptr %x22
  %x23 = alloca i64
  store i64 zeroinitializer, ptr %x23
  %x24 = alloca ptr
  store ptr zeroinitializer, ptr %x24
  %x25 = alloca i64
  store i64 zeroinitializer, ptr %x25
  %x26 = alloca i64
  store i64 zeroinitializer, ptr %x26
  %x27 = alloca i64
  store i64 zeroinitializer, ptr %x27
  %x28 = alloca i1
  store i1 zeroinitializer, ptr %x28
  %x29 = alloca i64
  store i64 zeroinitializer, ptr %x29
  %x30 = alloca i64
  store i64 zeroinitializer, ptr %x30
  %x31 = alloca i64
  store i64 zeroinitializer, ptr %x31
  %x32 = alloca i64
  store i64 zeroinitializer, ptr %x32
  %x33 = alloca double
  store double zeroinitializer, ptr %x33
  %x34 = alloca double
  store double zeroinitializer, ptr %x34
  %x35 = alloca i64
  store i64 zeroinitializer, ptr %x35
  %x36 = alloca i64
  store i64 zeroinitializer, ptr %x36
  %x37 = alloca i64
  store i64 zeroinitializer, ptr %x37
  %x38 = alloca i64
  store i64 zeroinitializer, ptr %x38
  %x39 = alloca i64
  store i64 zeroinitializer, ptr %x39
  %x40 = alloca i64
  store i64 zeroinitializer, ptr %x40
  %x41 = alloca double
  store double zeroinitializer, ptr %x41
  %x42 = alloca double
  store double zeroinitializer, ptr %x42
  %x43 = alloca double
  store double zeroinitializer, ptr %x43
  %x44 = alloca double
  store double zeroinitializer, ptr %x44
  %x45 = alloca double
  store double zeroinitializer, ptr %x45
  %x46 = alloca double
  store double zeroinitializer, ptr %x46
  %x47 = alloca i64
  store i64 zeroinitializer, ptr %x47
  %x48 = alloca i64
  store i64 zeroinitializer, ptr %x48
  %x49 = alloca i64
  store i64 zeroinitializer, ptr %x49
  %x50 = alloca i64
  store i64 zeroinitializer, ptr %x50
  %x51 = alloca i64
  store i64 zeroinitializer, ptr %x51
  %x52 = alloca i64
  store i64 zeroinitializer, ptr %x52
  %x53 = alloca i1
  store i1 zeroinitializer, ptr %x53
  %x54 = alloca i64
  store i64 zeroinitializer, ptr %x54
  %x55 = alloca i64
  store i64 zeroinitializer, ptr %x55
  %x56 = alloca i64
  store i64 zeroinitializer, ptr %x56
  %x57 = alloca i64
  store i64 zeroinitializer, ptr %x57
  store ptr %p0, ptr %x0
  store ptr %p1, ptr %x1
  store ptr %p2, ptr %x2
  store ptr %p3, ptr %x3
  store ptr %p4, ptr %x4
  %v937 = load ptr, ptr %x3
  %v938 = load i64, ptr %v937, !tbaa !2
  store i64 %v938, ptr %x5
  %v939 = load i64, ptr %x5
  %v940 = icmp slt i64 %v939, 0
  %v941 = select i1 %v940, i64 0, i64 %v939
  %v942 = icmp ugt i64 %v941, 1000000000
  br i1 %v942, label %failed, label %ok943, !prof !20
ok943:
  %v944 = call ptr @gendsl_new_list(ptr %ctx, i64 %v941, i64 %v941, i64 1)
  %v945 = icmp eq ptr %v944, null
  br i1 %v945, label %leave, label %ok946, !prof !20
ok946:
  store ptr %v944, ptr %x6
  %v947 = getelementptr i64, ptr %v944, i64 3
  store i64 0, ptr %x7
  br label %head948
head948:
  %v951 = load i64, ptr %x7
  %v952 = icmp slt i64 %v951, %v941
  br i1 %v952, label %each949, label %after950
each949:
  %v953 = mul i64 %v951, 1
  %v954 = getelementptr i64, ptr %v947, i64 %v953
  store i64 0, ptr %v954, !tbaa !4
  %v955 = add i64 %v951, 1
  store i64 %v955, ptr %x7
  br label %head948
after950:
  %v956 = load i64, ptr %x5
  %v957 = icmp slt i64 %v956, 0
  %v958 = select i1 %v957, i64 0, i64 %v956
  %v959 = icmp ugt i64 %v958, 1000000000
  br i1 %v959, label %failed, label %ok960, !prof !20
ok960:
  %v961 = call ptr @gendsl_new_list(ptr %ctx, i64 %v958, i64 %v958, i64 1)
  %v962 = icmp eq ptr %v961, null
  br i1 %v962, label %leave, label %ok963, !prof !20
ok963:
  store ptr %v961, ptr %x8
  %v964 = getelementptr i64, ptr %v961, i64 3
  store i64 0, ptr %x9
  br label %head965
head965:
  %v968 = load i64, ptr %x9
  %v969 = icmp slt i64 %v968, %v958
  br i1 %v969, label %each966, label %after967
each966:
  %v970 = mul i64 %v968, 1
  %v971 = getelementptr i64, ptr %v964, i64 %v970
  store i64 0, ptr %v971, !tbaa !4
  %v972 = add i64 %v968, 1
  store i64 %v972, ptr %x9
  br label %head965
after967:
  %v973 = load i64, ptr %x5
  %v974 = icmp slt i64 %v973, 0
  %v975 = select i1 %v974, i64 0, i64 %v973
  %v976 = icmp ugt i64 %v975, 1000000000
  br i1 %v976, label %failed, label %ok977, !prof !20
ok977:
  %v978 = call ptr @gendsl_new_list(ptr %ctx, i64 %v975, i64 %v975, i64 1)
  %v979 = icmp eq ptr %v978, null
  br i1 %v979, label %leave, label %ok980, !prof !20
ok980:
  store ptr %v978, ptr %x10
  %v981 = getelementptr i64, ptr %v978, i64 3
  store i64 0, ptr %x11
  br label %head982
head982:
  %v985 = load i64, ptr %x11
  %v986 = icmp slt i64 %v985, %v975
  br i1 %v986, label %each983, label %after984
each983:
  %v987 = mul i64 %v985, 1
  %v988 = getelementptr i64, ptr %v981, i64 %v987
  store i64 0, ptr %v988, !tbaa !4
  %v989 = add i64 %v985, 1
  store i64 %v989, ptr %x11
  br label %head982
after984:
  %v990 = load i64, ptr %x5
  store i64 0, ptr %x13
  br label %head991
head991:
  %v995 = load i64, ptr %x13
  store i64 %v995, ptr %x12
  %v996 = icmp slt i64 %v995, %v990
  br i1 %v996, label %loop992, label %after994
loop992:
  %v997 = load ptr, ptr %x4
  %v998 = load i64, ptr %v997, !tbaa !2
  %v999 = load i64, ptr %x12
  %v1000 = getelementptr i64, ptr %v997, i64 2
  %v1001 = load ptr, ptr %v1000, !tbaa !2
  %v1002 = getelementptr i64, ptr %v1001, i64 %v999
  %v1003 = load i64, ptr %v1002, !tbaa !4
  %v1004 = trunc i64 %v1003 to i1
  store i1 %v1004, ptr %x14
  %v1005 = load i1, ptr %x14
  br i1 %v1005, label %then1006, label %else1007
then1006:
  %v1009 = load ptr, ptr %x0
  %v1010 = load i64, ptr %v1009, !tbaa !2
  %v1011 = load i64, ptr %x12
  %v1012 = getelementptr i64, ptr %v1009, i64 2
  %v1013 = load ptr, ptr %v1012, !tbaa !2
  %v1014 = getelementptr i64, ptr %v1013, i64 %v1011
  %v1015 = load i64, ptr %v1014, !tbaa !4
  store i64 %v1015, ptr %x15
  %v1016 = load ptr, ptr %x0
  %v1017 = load i64, ptr %v1016, !tbaa !2
  %v1018 = load i64, ptr %x12
  %v1019 = call {i64, i1} @llvm.sadd.with.overflow.i64(i64 %v1018, i64 1)
  %v1020 = extractvalue {i64, i1} %v1019, 0
  %v1021 = getelementptr i64, ptr %v1016, i64 2
  %v1022 = load ptr, ptr %v1021, !tbaa !2
  %v1023 = getelementptr i64, ptr %v1022, i64 %v1020
  %v1024 = load i64, ptr %v1023, !tbaa !4
  store i64 %v1024, ptr %x16
  %v1025 = load i64, ptr %x15
  %v1026 = load i64, ptr %x16
  %v1027 = icmp sgt i64 1, 0
  %v1028 = sub i64 %v1026, %v1025
  %v1029 = sub i64 %v1025, %v1026
  %v1030 = select i1 %v1027, i64 %v1028, i64 %v1029
  %v1031 = sub i64 0, 1
  %v1032 = select i1 %v1027, i64 1, i64 %v1031
  %v1033 = sub i64 %v1032, 1
  %v1034 = add i64 %v1030, %v1033
  %v1035 = icmp eq i64 %v1032, 0
  %v1036 = select i1 %v1035, i64 1, i64 %v1032
  %v1037 = sdiv i64 %v1034, %v1036
  %v1038 = icmp sgt i64 %v1030, 0
  %v1039 = select i1 %v1038, i64 %v1037, i64 0
  store i64 0, ptr %x18
  br label %head1040
head1040:
  %v1044 = load i64, ptr %x18
  store i64 %v1044, ptr %x17
  %v1045 = icmp slt i64 %v1044, %v1039
  br i1 %v1045, label %loop1041, label %after1043
loop1041:
  %v1046 = load i64, ptr %x15
  %v1047 = load i64, ptr %x17
  %v1048 = call {i64, i1} @llvm.sadd.with.overflow.i64(i64 %v1046, i64 %v1047)
  %v1049 = extractvalue {i64, i1} %v1048, 0
  store i64 %v1049, ptr %x19
  %v1050 = load ptr, ptr %x1
  %v1051 = load i64, ptr %v1050, !tbaa !2
  %v1052 = load i64, ptr %x19
  %v1053 = getelementptr i64, ptr %v1050, i64 2
  %v1054 = load ptr, ptr %v1053, !tbaa !2
  %v1055 = getelementptr i64, ptr %v1054, i64 %v1052
  %v1056 = load i64, ptr %v1055, !tbaa !4
  store i64 %v1056, ptr %x20
  %v1057 = load ptr, ptr %x6
  %v1058 = load i64, ptr %v1057, !tbaa !2
  %v1059 = load i64, ptr %x20
  %v1060 = getelementptr i64, ptr %v1057, i64 2
  %v1061 = load ptr, ptr %v1060, !tbaa !2
  %v1062 = getelementptr i64, ptr %v1061, i64 %v1059
  %v1063 = load i64, ptr %v1062, !tbaa !4
  store i64 %v1063, ptr %x21
  %v1064 = load ptr, ptr %x6
  %v1065 = load i64, ptr %v1064, !tbaa !2
  %v1066 = load i64, ptr %x20
  %v1067 = getelementptr i64, ptr %v1064, i64 2
  %v1068 = load ptr, ptr %v1067, !tbaa !2
  %v1069 = getelementptr i64, ptr %v1068, i64 %v1066
  %v1070 = load i64, ptr %x21
  %v1071 = call {i64, i1} @llvm.sadd.with.overflow.i64(i64 %v1070, i64 1)
  %v1072 = extractvalue {i64, i1} %v1071, 0
  store i64 %v1072, ptr %v1069, !tbaa !4
  %v1073 = load ptr, ptr %x8
  %v1074 = load i64, ptr %v1073, !tbaa !2
  %v1075 = load i64, ptr %x20
  %v1076 = getelementptr i64, ptr %v1073, i64 2
  %v1077 = load ptr, ptr %v1076, !tbaa !2
  %v1078 = getelementptr i64, ptr %v1077, i64 %v1075
  %v1079 = load i64, ptr %v1078, !tbaa !4
  store i64 %v1079, ptr %x22
  %v1080 = load ptr, ptr %x8
  %v1081 = load i64, ptr %v1080, !tbaa !2
  %v1082 = load i64, ptr %x20
  %v1083 = getelementptr i64, ptr %v1080, i64 2
  %v1084 = load ptr, ptr %v1083, !tbaa !2
  %v1085 = getelementptr i64, ptr %v1084, i64 %v1082
  %v1086 = load i64, ptr %x22
  %v1087 = load i64, ptr %x19
  %v1088 = call {i64, i1} @llvm.sadd.with.overflow.i64(i64 %v1086, i64 %v1087)
  %v1089 = extractvalue {i64, i1} %v1088, 0
  store i64 %v1089, ptr %v1085, !tbaa !4
  %v1090 = load ptr, ptr %x10
  %v1091 = load i64, ptr %v1090, !tbaa !2
  %v1092 = load i64, ptr %x20
  %v1093 = getelementptr i64, ptr %v1090, i64 2
  %v1094 = load ptr, ptr %v1093, !tbaa !2
  %v1095 = getelementptr i64, ptr %v1094, i64 %v1092
  %v1096 = load i64, ptr %v1095, !tbaa !4
  store i64 %v1096, ptr %x23
  %v1097 = load ptr, ptr %x10
  %v1098 = load i64, ptr %v1097, !tbaa !2
  %v1099 = load i64, ptr %x20
  %v1100 = getelementptr i64, ptr %v1097, i64 2
  %v1101 = load ptr, ptr %v1100, !tbaa !2
  %v1102 = getelementptr i64, ptr %v1101, i64 %v1099
  %v1103 = load i64, ptr %x23
  %v1104 = load i64, ptr %x12
  %v1105 = call {i64, i1} @llvm.sadd.with.overflow.i64(i64 %v1103, i64 %v1104)
  %v1106 = extractvalue {i64, i1} %v1105, 0
  store i64 %v1106, ptr %v1102, !tbaa !4
  br label %next1042
next1042:
  %v1107 = load i64, ptr %x18
  %v1108 = add i64 %v1107, 1
  store i64 %v1108, ptr %x18
  br label %head1040
after1043:
  br label %after1008
else1007:
  br label %after1008
after1008:
  br label %next993
next993:
  %v1109 = load i64, ptr %x13
  %v1110 = add i64 %v1109, 1
  store i64 %v1110, ptr %x13
  br label %head991
after994:
  %v1111 = call ptr @gendsl_new_list(ptr %ctx, i64 0, i64 4, i64 1)
  %v1112 = icmp eq ptr %v1111, null
  br i1 %v1112, label %leave, label %ok1113, !prof !20
ok1113:
  store ptr %v1111, ptr %x24
  %v1114 = getelementptr i64, ptr %v1111, i64 3
  store i64 0, ptr %x25
  %v1115 = load i64, ptr %x5
  store i64 0, ptr %x27
  br label %head1116
head1116:
  %v1120 = load i64, ptr %x27
  store i64 %v1120, ptr %x26
  %v1121 = icmp slt i64 %v1120, %v1115
  br i1 %v1121, label %loop1117, label %after1119
loop1117:
  %v1122 = load ptr, ptr %x3
  %v1123 = load i64, ptr %v1122, !tbaa !2
  %v1124 = load i64, ptr %x26
  %v1125 = getelementptr i64, ptr %v1122, i64 2
  %v1126 = load ptr, ptr %v1125, !tbaa !2
  %v1127 = getelementptr i64, ptr %v1126, i64 %v1124
  %v1128 = load i64, ptr %v1127, !tbaa !4
  %v1129 = trunc i64 %v1128 to i1
  store i1 %v1129, ptr %x28
  %v1130 = load i1, ptr %x28
  br i1 %v1130, label %then1131, label %else1132
then1131:
  %v1134 = load ptr, ptr %x6
  %v1135 = load i64, ptr %v1134, !tbaa !2
  %v1136 = load i64, ptr %x26
  %v1137 = getelementptr i64, ptr %v1134, i64 2
  %v1138 = load ptr, ptr %v1137, !tbaa !2
  %v1139 = getelementptr i64, ptr %v1138, i64 %v1136
  %v1140 = load i64, ptr %v1139, !tbaa !4
  store i64 %v1140, ptr %x29
  %v1141 = load i64, ptr %x29
  %v1142 = icmp sgt i64 %v1141, 0
  %v1143 = xor i1 %v1142, true
  br i1 %v1143, label %then1144, label %else1145
then1144:
  br label %failed
else1145:
  br label %after1146
after1146:
  %v1147 = load ptr, ptr %x6
  %v1148 = load i64, ptr %v1147, !tbaa !2
  %v1149 = load i64, ptr %x26
  %v1150 = getelementptr i64, ptr %v1147, i64 2
  %v1151 = load ptr, ptr %v1150, !tbaa !2
  %v1152 = getelementptr i64, ptr %v1151, i64 %v1149
  %v1153 = load i64, ptr %v1152, !tbaa !4
  store i64 %v1153, ptr %x30
  %v1154 = load i64, ptr %x30
  %v1155 = icmp eq i64 %v1154, 1
  br i1 %v1155, label %then1156, label %else1157
then1156:
  %v1159 = load ptr, ptr %x24
  %v1160 = load i64, ptr %x26
  %v1161 = load i64, ptr %v1159, !tbaa !2
  %v1162 = getelementptr i64, ptr %v1159, i64 1
  %v1163 = load i64, ptr %v1162, !tbaa !2
  %v1166 = icmp slt i64 %v1161, %v1163
  br i1 %v1166, label %ready1165, label %grow1164
grow1164:
  %v1167 = call ptr @gendsl_grown(ptr %ctx, ptr %v1159, i64 4, i64 1)
  %v1168 = icmp eq ptr %v1167, null
  br i1 %v1168, label %leave, label %ready1165, !prof !20
ready1165:
  %v1169 = getelementptr i64, ptr %v1159, i64 2
  %v1170 = load ptr, ptr %v1169, !tbaa !2
  %v1171 = mul i64 %v1161, 1
  %v1172 = getelementptr i64, ptr %v1170, i64 %v1171
  store i64 %v1160, ptr %v1172, !tbaa !4
  %v1173 = add i64 %v1161, 1
  store i64 %v1173, ptr %v1159, !tbaa !2
  br label %after1158
else1157:
  br label %after1158
after1158:
  %v1174 = load i64, ptr %x25
  %v1175 = call {i64, i1} @llvm.sadd.with.overflow.i64(i64 %v1174, i64 1)
  %v1176 = extractvalue {i64, i1} %v1175, 0
  store i64 %v1176, ptr %x31
  br label %after1133
else1132:
  %v1177 = load i64, ptr %x25
  store i64 %v1177, ptr %x31
  br label %after1133
after1133:
  %v1178 = load i64, ptr %x31
  store i64 %v1178, ptr %x25
  br label %next1118
next1118:
  %v1179 = load i64, ptr %x27
  %v1180 = add i64 %v1179, 1
  store i64 %v1180, ptr %x27
  br label %head1116
after1119:
  %v1181 = load i64, ptr %x25
  store i64 %v1181, ptr %x32
  store double 0x3FF0000000000000, ptr %x33
  store double 0x0000000000000000, ptr %x34
  br label %head1182
head1182:
  %v1185 = load ptr, ptr %x24
  %v1186 = load i64, ptr %v1185, !tbaa !2
  store i64 %v1186, ptr %x35
  %v1187 = load i64, ptr %x35
  %v1188 = icmp sgt i64 %v1187, 0
  %v1189 = xor i1 %v1188, true
  br i1 %v1189, label %then1190, label %else1191
then1190:
  br label %after1183
else1191:
  %v1193 = load ptr, ptr %x24
  %v1194 = load i64, ptr %v1193, !tbaa !2
  store i64 %v1194, ptr %x36
  %v1195 = load ptr, ptr %x24
  %v1196 = load i64, ptr %v1195, !tbaa !2
  %v1197 = add i64 -1, %v1196
  %v1198 = getelementptr i64, ptr %v1195, i64 2
  %v1199 = load ptr, ptr %v1198, !tbaa !2
  %v1200 = getelementptr i64, ptr %v1199, i64 %v1197
  %v1201 = load i64, ptr %v1200, !tbaa !4
  store i64 %v1201, ptr %x37
  %v1202 = load i64, ptr %x36
  %v1203 = call {i64, i1} @llvm.ssub.with.overflow.i64(i64 %v1202, i64 1)
  %v1204 = extractvalue {i64, i1} %v1203, 0
  %v1205 = load ptr, ptr %x24
  store i64 %v1204, ptr %v1205, !tbaa !2
  %v1206 = load ptr, ptr %x6
  %v1207 = load i64, ptr %v1206, !tbaa !2
  %v1208 = load i64, ptr %x37
  %v1209 = getelementptr i64, ptr %v1206, i64 2
  %v1210 = load ptr, ptr %v1209, !tbaa !2
  %v1211 = getelementptr i64, ptr %v1210, i64 %v1208
  %v1212 = load i64, ptr %v1211, !tbaa !4
  store i64 %v1212, ptr %x38
  %v1213 = load i64, ptr %x38
  %v1214 = icmp eq i64 %v1213, 1
  %v1215 = xor i1 %v1214, true
  br i1 %v1215, label %then1216, label %else1217
then1216:
  br label %failed
else1217:
  br label %after1218
after1218:
  %v1219 = load ptr, ptr %x10
  %v1220 = load i64, ptr %v1219, !tbaa !2
  %v1221 = load i64, ptr %x37
  %v1222 = getelementptr i64, ptr %v1219, i64 2
  %v1223 = load ptr, ptr %v1222, !tbaa !2
  %v1224 = getelementptr i64, ptr %v1223, i64 %v1221
  %v1225 = load i64, ptr %v1224, !tbaa !4
  store i64 %v1225, ptr %x39
  %v1226 = load ptr, ptr %x8
  %v1227 = load i64, ptr %v1226, !tbaa !2
  %v1228 = load i64, ptr %x37
  %v1229 = getelementptr i64, ptr %v1226, i64 2
  %v1230 = load ptr, ptr %v1229, !tbaa !2
  %v1231 = getelementptr i64, ptr %v1230, i64 %v1228
  %v1232 = load i64, ptr %v1231, !tbaa !4
  store i64 %v1232, ptr %x40
  %v1233 = load ptr, ptr %x2
  %v1234 = load i64, ptr %v1233, !tbaa !2
  %v1235 = load i64, ptr %x40
  %v1236 = getelementptr i64, ptr %v1233, i64 2
  %v1237 = load ptr, ptr %v1236, !tbaa !2
  %v1238 = getelementptr i64, ptr %v1237, i64 %v1235
  %v1239 = load double, ptr %v1238, !tbaa !3
  store double %v1239, ptr %x41
  %v1240 = load double, ptr %x41
  %v1241 = call double @llvm.fabs.f64(double %v1240)
  store double %v1241, ptr %x42
  %v1242 = load ptr, ptr %x3
  %v1243 = load i64, ptr %v1242, !tbaa !2
  %v1244 = load i64, ptr %x37
  %v1245 = getelementptr i64, ptr %v1242, i64 2
  %v1246 = load ptr, ptr %v1245, !tbaa !2
  %v1247 = getelementptr i64, ptr %v1246, i64 %v1244
  %v1248 = zext i1 false to i64
  store i64 %v1248, ptr %v1247, !tbaa !4
  %v1249 = load ptr, ptr %x4
  %v1250 = load i64, ptr %v1249, !tbaa !2
  %v1251 = load i64, ptr %x39
  %v1252 = getelementptr i64, ptr %v1249, i64 2
  %v1253 = load ptr, ptr %v1252, !tbaa !2
  %v1254 = getelementptr i64, ptr %v1253, i64 %v1251
  %v1255 = zext i1 false to i64
  store i64 %v1255, ptr %v1254, !tbaa !4
  %v1256 = load double, ptr %x42
  %v1257 = fcmp olt double 0x2B2BFF2EE48E0530, %v1256
  %v1258 = load double, ptr %x42
  %v1259 = fcmp olt double %v1258, 0x54B249AD2594C37D
  %v1260 = and i1 %v1257, %v1259
  br i1 %v1260, label %then1261, label %else1262
then1261:
  %v1264 = load double, ptr %x33
  %v1265 = load double, ptr %x42
  %v1266 = fmul double %v1264, %v1265
  store double %v1266, ptr %x43
  store double 0x3FF0000000000000, ptr %x44
  br label %after1263
else1262:
  %v1267 = load double, ptr %x33
  %v1268 = load double, ptr %x42
  store double %v1267, ptr %x43
  store double %v1268, ptr %x44
  br label %after1263
after1263:
  %v1269 = load double, ptr %x44
  %v1270 = fcmp une double %v1269, 0x3FF0000000000000
  %v1271 = load double, ptr %x43
  %v1272 = fcmp olt double 0x2B2BFF2EE48E0530, %v1271
  %v1273 = load double, ptr %x43
  %v1274 = fcmp olt double %v1273, 0x54B249AD2594C37D
  %v1275 = and i1 %v1272, %v1274
  %v1276 = xor i1 %v1275, true
  %v1277 = select i1 %v1270, i1 true, i1 %v1276
  br i1 %v1277, label %then1278, label %else1279
then1278:
  %v1281 = load double, ptr %x34
  %v1282 = load double, ptr %x44
  %v1283 = call double @log(double %v1282)
  %v1284 = call double @llvm.fabs.f64(double %v1283)
  %v1285 = fcmp ueq double %v1284, 0x7FF0000000000000
  br i1 %v1285, label %check1286, label %ok1287, !prof !20
check1286:
  %v1288 = call i1 @gendsl_odd1(double %v1283, double %v1282)
  br i1 %v1288, label %failed, label %ok1287
ok1287:
  %v1289 = load double, ptr %x43
  %v1290 = call double @log(double %v1289)
  %v1291 = call double @llvm.fabs.f64(double %v1290)
  %v1292 = fcmp ueq double %v1291, 0x7FF0000000000000
  br i1 %v1292, label %check1293, label %ok1294, !prof !20
check1293:
  %v1295 = call i1 @gendsl_odd1(double %v1290, double %v1289)
  br i1 %v1295, label %failed, label %ok1294
ok1294:
  %v1296 = fadd double %v1283, %v1290
  %v1297 = fadd double %v1281, %v1296
  store double %v1297, ptr %x45
  store double 0x3FF0000000000000, ptr %x46
  br label %after1280
else1279:
  %v1298 = load double, ptr %x34
  %v1299 = load double, ptr %x43
  store double %v1298, ptr %x45
  store double %v1299, ptr %x46
  br label %after1280
after1280:
  %v1300 = load ptr, ptr %x0
  %v1301 = load i64, ptr %v1300, !tbaa !2
  %v1302 = load i64, ptr %x39
  %v1303 = getelementptr i64, ptr %v1300, i64 2
  %v1304 = load ptr, ptr %v1303, !tbaa !2
  %v1305 = getelementptr i64, ptr %v1304, i64 %v1302
  %v1306 = load i64, ptr %v1305, !tbaa !4
  store i64 %v1306, ptr %x47
  %v1307 = load ptr, ptr %x0
  %v1308 = load i64, ptr %v1307, !tbaa !2
  %v1309 = load i64, ptr %x39
  %v1310 = call {i64, i1} @llvm.sadd.with.overflow.i64(i64 %v1309, i64 1)
  %v1311 = extractvalue {i64, i1} %v1310, 0
  %v1312 = getelementptr i64, ptr %v1307, i64 2
  %v1313 = load ptr, ptr %v1312, !tbaa !2
  %v1314 = getelementptr i64, ptr %v1313, i64 %v1311
  %v1315 = load i64, ptr %v1314, !tbaa !4
  store i64 %v1315, ptr %x48
  %v1316 = load i64, ptr %x47
  %v1317 = load i64, ptr %x48
  %v1318 = icmp sgt i64 1, 0
  %v1319 = sub i64 %v1317, %v1316
  %v1320 = sub i64 %v1316, %v1317
  %v1321 = select i1 %v1318, i64 %v1319, i64 %v1320
  %v1322 = sub i64 0, 1
  %v1323 = select i1 %v1318, i64 1, i64 %v1322
  %v1324 = sub i64 %v1323, 1
  %v1325 = add i64 %v1321, %v1324
  %v1326 = icmp eq i64 %v1323, 0
  %v1327 = select i1 %v1326, i64 1, i64 %v1323
  %v1328 = sdiv i64 %v1325, %v1327
  %v1329 = icmp sgt i64 %v1321, 0
  %v1330 = select i1 %v1329, i64 %v1328, i64 0
  store i64 0, ptr %x50
  br label %head1331
head1331:
  %v1335 = load i64, ptr %x50
  store i64 %v1335, ptr %x49
  %v1336 = icmp slt i64 %v1335, %v1330
  br i1 %v1336, label %loop1332, label %after1334
loop1332:
  %v1337 = load i64, ptr %x47
  %v1338 = load i64, ptr %x49
  %v1339 = call {i64, i1} @llvm.sadd.with.overflow.i64(i64 %v1337, i64 %v1338)
  %v1340 = extractvalue {i64, i1} %v1339, 0
  store i64 %v1340, ptr %x51
  %v1341 = load ptr, ptr %x1
  %v1342 = load i64, ptr %v1341, !tbaa !2
  %v1343 = load i64, ptr %x51
  %v1344 = getelementptr i64, ptr %v1341, i64 2
  %v1345 = load ptr, ptr %v1344, !tbaa !2
  %v1346 = getelementptr i64, ptr %v1345, i64 %v1343
  %v1347 = load i64, ptr %v1346, !tbaa !4
  store i64 %v1347, ptr %x52
  %v1348 = load ptr, ptr %x3
  %v1349 = load i64, ptr %v1348, !tbaa !2
  %v1350 = load i64, ptr %x52
  %v1351 = getelementptr i64, ptr %v1348, i64 2
  %v1352 = load ptr, ptr %v1351, !tbaa !2
  %v1353 = getelementptr i64, ptr %v1352, i64 %v1350
  %v1354 = load i64, ptr %v1353, !tbaa !4
  %v1355 = trunc i64 %v1354 to i1
  store i1 %v1355, ptr %x53
  %v1356 = load i1, ptr %x53
  br i1 %v1356, label %then1357, label %else1358
then1357:
  %v1360 = load ptr, ptr %x6
  %v1361 = load i64, ptr %v1360, !tbaa !2
  %v1362 = load i64, ptr %x52
  %v1363 = getelementptr i64, ptr %v1360, i64 2
  %v1364 = load ptr, ptr %v1363, !tbaa !2
  %v1365 = getelementptr i64, ptr %v1364, i64 %v1362
  %v1366 = load i64, ptr %v1365, !tbaa !4
  store i64 %v1366, ptr %x54
  %v1367 = load ptr, ptr %x6
  %v1368 = load i64, ptr %v1367, !tbaa !2
  %v1369 = load i64, ptr %x52
  %v1370 = getelementptr i64, ptr %v1367, i64 2
  %v1371 = load ptr, ptr %v1370, !tbaa !2
  %v1372 = getelementptr i64, ptr %v1371, i64 %v1369
  %v1373 = load i64, ptr %x54
  %v1374 = call {i64, i1} @llvm.ssub.with.overflow.i64(i64 %v1373, i64 1)
  %v1375 = extractvalue {i64, i1} %v1374, 0
  store i64 %v1375, ptr %v1372, !tbaa !4
  %v1376 = load ptr, ptr %x8
  %v1377 = load i64, ptr %v1376, !tbaa !2
  %v1378 = load i64, ptr %x52
  %v1379 = getelementptr i64, ptr %v1376, i64 2
  %v1380 = load ptr, ptr %v1379, !tbaa !2
  %v1381 = getelementptr i64, ptr %v1380, i64 %v1378
  %v1382 = load i64, ptr %v1381, !tbaa !4
  store i64 %v1382, ptr %x55
  %v1383 = load ptr, ptr %x8
  %v1384 = load i64, ptr %v1383, !tbaa !2
  %v1385 = load i64, ptr %x52
  %v1386 = getelementptr i64, ptr %v1383, i64 2
  %v1387 = load ptr, ptr %v1386, !tbaa !2
  %v1388 = getelementptr i64, ptr %v1387, i64 %v1385
  %v1389 = load i64, ptr %x55
  %v1390 = load i64, ptr %x51
  %v1391 = call {i64, i1} @llvm.ssub.with.overflow.i64(i64 %v1389, i64 %v1390)
  %v1392 = extractvalue {i64, i1} %v1391, 0
  store i64 %v1392, ptr %v1388, !tbaa !4
  %v1393 = load ptr, ptr %x10
  %v1394 = load i64, ptr %v1393, !tbaa !2
  %v1395 = load i64, ptr %x52
  %v1396 = getelementptr i64, ptr %v1393, i64 2
  %v1397 = load ptr, ptr %v1396, !tbaa !2
  %v1398 = getelementptr i64, ptr %v1397, i64 %v1395
  %v1399 = load i64, ptr %v1398, !tbaa !4
  store i64 %v1399, ptr %x56
  %v1400 = load ptr, ptr %x10
  %v1401 = load i64, ptr %v1400, !tbaa !2
  %v1402 = load i64, ptr %x52
  %v1403 = getelementptr i64, ptr %v1400, i64 2
  %v1404 = load ptr, ptr %v1403, !tbaa !2
  %v1405 = getelementptr i64, ptr %v1404, i64 %v1402
  %v1406 = load i64, ptr %x56
  %v1407 = load i64, ptr %x39
  %v1408 = call {i64, i1} @llvm.ssub.with.overflow.i64(i64 %v1406, i64 %v1407)
  %v1409 = extractvalue {i64, i1} %v1408, 0
  store i64 %v1409, ptr %v1405, !tbaa !4
  %v1410 = load ptr, ptr %x6
  %v1411 = load i64, ptr %v1410, !tbaa !2
  %v1412 = load i64, ptr %x52
  %v1413 = getelementptr i64, ptr %v1410, i64 2
  %v1414 = load ptr, ptr %v1413, !tbaa !2
  %v1415 = getelementptr i64, ptr %v1414, i64 %v1412
  %v1416 = load i64, ptr %v1415, !tbaa !4
  store i64 %v1416, ptr %x57
  %v1417 = load i64, ptr %x57
  %v1418 = icmp eq i64 %v1417, 1
  br i1 %v1418, label %then1419, label %else1420
then1419:
  %v1422 = load ptr, ptr %x24
  %v1423 = load i64, ptr %x52
  %v1424 = load i64, ptr %v1422, !tbaa !2
  %v1425 = getelementptr i64, ptr %v1422, i64 1
  %v1426 = load i64, ptr %v1425, !tbaa !2
  %v1429 = icmp slt i64 %v1424, %v1426
  br i1 %v1429, label %ready1428, label %grow1427
grow1427:
  %v1430 = call ptr @gendsl_grown(ptr %ctx, ptr %v1422, i64 4, i64 1)
  %v1431 = icmp eq ptr %v1430, null
  br i1 %v1431, label %leave, label %ready1428, !prof !20
ready1428:
  %v1432 = getelementptr i64, ptr %v1422, i64 2
  %v1433 = load ptr, ptr %v1432, !tbaa !2
  %v1434 = mul i64 %v1424, 1
  %v1435 = getelementptr i64, ptr %v1433, i64 %v1434
  store i64 %v1423, ptr %v1435, !tbaa !4
  %v1436 = add i64 %v1424, 1
  store i64 %v1436, ptr %v1422, !tbaa !2
  br label %after1421
else1420:
  br label %after1421
after1421:
  br label %after1359
else1358:
  br label %after1359
after1359:
  br label %next1333
next1333:
  %v1437 = load i64, ptr %x50
  %v1438 = add i64 %v1437, 1
  store i64 %v1438, ptr %x50
  br label %head1331
after1334:
  %v1439 = load i64, ptr %x32
  %v1440 = call {i64, i1} @llvm.ssub.with.overflow.i64(i64 %v1439, i64 1)
  %v1441 = extractvalue {i64, i1} %v1440, 0
  %v1442 = load double, ptr %x46
  %v1443 = load double, ptr %x45
  store i64 %v1441, ptr %x32
  store double %v1442, ptr %x33
  store double %v1443, ptr %x34
  br label %after1192
after1192:
  br label %next1184
next1184:
  br label %head1182
after1183:
  %v1444 = load double, ptr %x34
  %v1445 = load double, ptr %x33
  %v1446 = call double @log(double %v1445)
  %v1447 = call double @llvm.fabs.f64(double %v1446)
  %v1448 = fcmp ueq double %v1447, 0x7FF0000000000000
  br i1 %v1448, label %check1449, label %ok1450, !prof !20
check1449:
  %v1451 = call i1 @gendsl_odd1(double %v1446, double %v1445)
  br i1 %v1451, label %failed, label %ok1450
ok1450:
  %v1452 = fadd double %v1444, %v1446
  %v1453 = insertvalue {i32, double, i64} zeroinitializer, double %v1452, 1
  %v1454 = load i64, ptr %x32
  %v1455 = insertvalue {i32, double, i64} %v1453, i64 %v1454, 2
  ret {i32, double, i64} %v1455
failed:
  %v1456 = phi i64 [4, %entry], [5, %after950], [6, %after967], [7, %then1144], [8, %then1216], [9, %check1286], [10, %check1293], [11, %check1449]
  %v1457 = getelementptr i64, ptr %ctx, i64 2
  store i64 %v1456, ptr %v1457, !tbaa !1
  br label %leave
leave:
  %v1458 = phi i32 [2, %ok943], [2, %ok960], [2, %ok977], [2, %after994], [2, %grow1164], [2, %grow1427], [1, %failed]
  %v1459 = insertvalue {i32, double, i64} zeroinitializer, i32 %v1458, 0
  ret {i32, double, i64} %v1459
}

define {i32, double} @gendsl_slopes_eliminated(ptr align 8 dereferenceable(544) %ctx, ptr %p0, ptr %p1, ptr %p2, ptr %p3, ptr %p4, i64 %p5) noinline {
entry:
  %x0 = alloca ptr
  store ptr zeroinitializer, ptr %x0
  %x1 = alloca ptr
  store ptr zeroinitializer, ptr %x1
  %x2 = alloca ptr
  store ptr zeroinitializer, ptr %x2
  %x3 = alloca ptr
  store ptr zeroinitializer, ptr %x3
  %x4 = alloca ptr
  store ptr zeroinitializer, ptr %x4
  %x5 = alloca i64
  store i64 zeroinitializer, ptr %x5
  %x6 = alloca i64
  store i64 zeroinitializer, ptr %x6
  %x7 = alloca ptr
  store ptr zeroinitializer, ptr %x7
  %x8 = alloca i64
  store i64 zeroinitializer, ptr %x8
  %x9 = alloca i64
  store i64 zeroinitializer, ptr %x9
  %x10 = alloca i64
  store i64 zeroinitializer, ptr %x10
  %x11 = alloca i64
  store i64 zeroinitializer, ptr %x11
  %x12 = alloca i1
  store i1 zeroinitializer, ptr %x12
  %x13 = alloca i64
  store i64 zeroinitializer, ptr %x13
  %x14 = alloca ptr
  store ptr zeroinitializer, ptr %x14
  %x15 = alloca i64
  store i64 zeroinitializer, ptr %x15
  %x16 = alloca i64
  store i64 zeroinitializer, ptr %x16
  %x17 = alloca i64
  store i64 zeroinitializer, ptr %x17
  %x18 = alloca i64
  store i64 zeroinitializer, ptr %x18
  %x19 = alloca i1
  store i1 zeroinitializer, ptr %x19
  %x20 = alloca i64
  store i64 zeroinitializer, ptr %x20
  %x21 = alloca i64
  store i64 zeroinitializer, ptr %x21
  %x22 = alloca i64
  store i64 zeroinitializer, ptr %x22
  %x23 = alloca i64
  store i64 zeroinitializer, ptr %x23
  %x24 = alloca i64
  store i64 zeroinitializer, ptr %x24
  %x25 = alloca i64
  store i64 zeroinitializer, ptr %x25
  %x26 = alloca i1
  store i1 zeroinitializer, ptr %x26
  %x27 = alloca double
  store double zeroinitializer, ptr %x27
  %x28 = alloca i64
  store i64 zeroinitializer, ptr %x28
  %x29 = alloca i64
  store i64 zeroinitializer, ptr %x29
  %x30 = alloca i64
  store i64 zeroinitializer, ptr %x30
  %x31 = alloca double
  store double zeroinitializer, ptr %x31
  %x32 = alloca i64
  store i64 zeroinitializer, ptr %x32
  %x33 = alloca i64
  store i64 zeroinitializer, ptr %x33
  %x34 = alloca double
  store double zeroinitializer, ptr %x34
  %x35 = alloca i64
  store i64 zeroinitializer, ptr %x35
  %x36 = alloca i64
  store i64 zeroinitializer, ptr %x36
  %x37 = alloca i64
  store i64 zeroinitializer, ptr %x37
  %x38 = alloca i64
  store i64 zeroinitializer, ptr %x38
  %x39 = alloca double
  store double zeroinitializer, ptr %x39
  %x40 = alloca double
  store double zeroinitializer, ptr %x40
  %x41 = alloca double
  store double zeroinitializer, ptr %x41
  %x42 = alloca i64
  store i64 zeroinitializer, ptr %x42
  %x43 = alloca i64
  store i64 zeroinitializer, ptr %x43
  %x44 = alloca i64
  store i64 zeroinitializer, ptr %x44
  %x45 = alloca i64
  store i64 zeroinitializer, ptr %x45
  %x46 = alloca double
  store double zeroinitializer, ptr %x46
  %x47 = alloca double
  store double zeroinitializer, ptr %x47
  %x48 = alloca i64
  store i64 zeroinitializer, ptr %x48
  %x49 = alloca i64
  store i64 zeroinitializer, ptr %x49
  %x50 = alloca i64
  store i64 zeroinitializer, ptr %x50
  %x51 = alloca i64
  store i64 zeroinitializer, ptr %x51
  %x52 = alloca double
  store double zeroinitializer, ptr %x52
  %x53 = alloca double
  store double zeroinitializer, ptr %x53
  %x54 = alloca double
  store double zeroinitializer, ptr %x54
  %x55 = alloca i64
  store i64 zeroinitializer, ptr %x55
  %x56 = alloca i64
  store i64 zeroinitializer, ptr %x56
  %x57 = alloca i64
  store i64 zeroinitializer, ptr %x57
  %x58 = alloca i64
  store i64 zeroinitializer, ptr %x58
  %x59 = alloca i64
  store i64 zeroinitializer, ptr %x59
  %x60 = alloca double
  store double zeroinitializer, ptr %x60
  %x61 = alloca double
  store double zeroinitializer, ptr %x61
  store ptr %p0, ptr %x0
  store ptr %p1, ptr %x1
  store ptr %p2, ptr %x2
  store ptr %p3, ptr %x3
  store ptr %p4, ptr %x4
  store i64 %p5, ptr %x5
  %v1460 = load ptr, ptr %x3
  %v1461 = load i64, ptr %v1460, !tbaa !2
  store i64 %v1461, ptr %x6
  %v1462 = load i64, ptr %x6
  %v1463 = icmp slt i64 %v1462, 0
  %v1464 = select i1 %v1463, i64 0, i64 %v1462
  %v1465 = icmp ugt i64 %v1464, 1000000000
  br i1 %v1465, label %failed, label %ok1466, !prof !20
ok1466:
  %v1467 = call ptr @gendsl_new_list(ptr %ctx, i64 %v1464, i64 %v1464, i64 1)
  %v1468 = icmp eq ptr %v1467, null
  br i1 %v1468, label %leave, label %ok1469, !prof !20
ok1469:
  store ptr %v1467, ptr %x7
  %v1470 = getelementptr i64, ptr %v1467, i64 3
  store i64 0, ptr %x8
  br label %head1471
head1471:
  %v1474 = load i64, ptr %x8
  %v1475 = icmp slt i64 %v1474, %v1464
  br i1 %v1475, label %each1472, label %after1473
each1472:
  %v1476 = mul i64 %v1474, 1
  %v1477 = getelementptr i64, ptr %v1470, i64 %v1476
  store i64 0, ptr %v1477, !tbaa !4
  %v1478 = add i64 %v1474, 1
  store i64 %v1478, ptr %x8
  br label %head1471
after1473:
  store i64 0, ptr %x9
  %v1479 = load i64, ptr %x6
  store i64 0, ptr %x11
  br label %head1480
head1480:
  %v1484 = load i64, ptr %x11
  store i64 %v1484, ptr %x10
  %v1485 = icmp slt i64 %v1484, %v1479
  br i1 %v1485, label %loop1481, label %after1483
loop1481:
  %v1486 = load ptr, ptr %x3
  %v1487 = load i64, ptr %v1486, !tbaa !2
  %v1488 = load i64, ptr %x10
  %v1489 = getelementptr i64, ptr %v1486, i64 2
  %v1490 = load ptr, ptr %v1489, !tbaa !2
  %v1491 = getelementptr i64, ptr %v1490, i64 %v1488
  %v1492 = load i64, ptr %v1491, !tbaa !4
  %v1493 = trunc i64 %v1492 to i1
  store i1 %v1493, ptr %x12
  %v1494 = load i1, ptr %x12
  br i1 %v1494, label %then1495, label %else1496
then1495:
  %v1498 = load ptr, ptr %x7
  %v1499 = load i64, ptr %v1498, !tbaa !2
  %v1500 = load i64, ptr %x10
  %v1501 = getelementptr i64, ptr %v1498, i64 2
  %v1502 = load ptr, ptr %v1501, !tbaa !2
  %v1503 = getelementptr i64, ptr %v1502, i64 %v1500
  %v1504 = load i64, ptr %x9
  store i64 %v1504, ptr %v1503, !tbaa !4
  %v1505 = load i64, ptr %x9
  %v1506 = call {i64, i1} @llvm.sadd.with.overflow.i64(i64 %v1505, i64 1)
  %v1507 = extractvalue {i64, i1} %v1506, 0
  store i64 %v1507, ptr %x13
  br label %after1497
else1496:
  %v1508 = load i64, ptr %x9
  store i64 %v1508, ptr %x13
  br label %after1497
after1497:
  %v1509 = load i64, ptr %x13
  store i64 %v1509, ptr %x9
  br label %next1482
next1482:
  %v1510 = load i64, ptr %x11
  %v1511 = add i64 %v1510, 1
  store i64 %v1511, ptr %x11
  br label %head1480
after1483:
  %v1512 = load i64, ptr %x5
  %v1513 = load i64, ptr %x5
  %v1514 = call {i64, i1} @llvm.smul.with.overflow.i64(i64 %v1512, i64 %v1513)
  %v1515 = extractvalue {i64, i1} %v1514, 0
  %v1516 = icmp slt i64 %v1515, 0
  %v1517 = select i1 %v1516, i64 0, i64 %v1515
  %v1518 = icmp ugt i64 %v1517, 1000000000
  br i1 %v1518, label %failed, label %ok1519, !prof !20
ok1519:
  %v1520 = call ptr @gendsl_new_list(ptr %ctx, i64 %v1517, i64 %v1517, i64 1)
  %v1521 = icmp eq ptr %v1520, null
  br i1 %v1521, label %leave, label %ok1522, !prof !20
ok1522:
  store ptr %v1520, ptr %x14
  %v1523 = getelementptr i64, ptr %v1520, i64 3
  store i64 0, ptr %x15
  br label %head1524
head1524:
  %v1527 = load i64, ptr %x15
  %v1528 = icmp slt i64 %v1527, %v1517
  br i1 %v1528, label %each1525, label %after1526
each1525:
  %v1529 = mul i64 %v1527, 1
  %v1530 = getelementptr i64, ptr %v1523, i64 %v1529
  store double 0x0000000000000000, ptr %v1530, !tbaa !3
  %v1531 = add i64 %v1527, 1
  store i64 %v1531, ptr %x15
  br label %head1524
after1526:
  store i64 0, ptr %x16
  %v1532 = load i64, ptr %x6
  store i64 0, ptr %x18
  br label %head1533
head1533:
  %v1537 = load i64, ptr %x18
  store i64 %v1537, ptr %x17
  %v1538 = icmp slt i64 %v1537, %v1532
  br i1 %v1538, label %loop1534, label %after1536
loop1534:
  %v1539 = load ptr, ptr %x4
  %v1540 = load i64, ptr %v1539, !tbaa !2
  %v1541 = load i64, ptr %x17
  %v1542 = getelementptr i64, ptr %v1539, i64 2
  %v1543 = load ptr, ptr %v1542, !tbaa !2
  %v1544 = getelementptr i64, ptr %v1543, i64 %v1541
  %v1545 = load i64, ptr %v1544, !tbaa !4
  %v1546 = trunc i64 %v1545 to i1
  store i1 %v1546, ptr %x19
  %v1547 = load i1, ptr %x19
  br i1 %v1547, label %then1548, label %else1549
then1548:
  %v1551 = load ptr, ptr %x0
  %v1552 = load i64, ptr %v1551, !tbaa !2
  %v1553 = load i64, ptr %x17
  %v1554 = getelementptr i64, ptr %v1551, i64 2
  %v1555 = load ptr, ptr %v1554, !tbaa !2
  %v1556 = getelementptr i64, ptr %v1555, i64 %v1553
  %v1557 = load i64, ptr %v1556, !tbaa !4
  store i64 %v1557, ptr %x20
  %v1558 = load ptr, ptr %x0
  %v1559 = load i64, ptr %v1558, !tbaa !2
  %v1560 = load i64, ptr %x17
  %v1561 = call {i64, i1} @llvm.sadd.with.overflow.i64(i64 %v1560, i64 1)
  %v1562 = extractvalue {i64, i1} %v1561, 0
  %v1563 = getelementptr i64, ptr %v1558, i64 2
  %v1564 = load ptr, ptr %v1563, !tbaa !2
  %v1565 = getelementptr i64, ptr %v1564, i64 %v1562
  %v1566 = load i64, ptr %v1565, !tbaa !4
  store i64 %v1566, ptr %x21
  %v1567 = load i64, ptr %x20
  %v1568 = load i64, ptr %x21
  %v1569 = icmp sgt i64 1, 0
  %v1570 = sub i64 %v1568, %v1567
  %v1571 = sub i64 %v1567, %v1568
  %v1572 = select i1 %v1569, i64 %v1570, i64 %v1571
  %v1573 = sub i64 0, 1
  %v1574 = select i1 %v1569, i64 1, i64 %v1573
  %v1575 = sub i64 %v1574, 1
  %v1576 = add i64 %v1572, %v1575
  %v1577 = icmp eq i64 %v1574, 0
  %v1578 = select i1 %v1577, i64 1, i64 %v1574
  %v1579 = sdiv i64 %v1576, %v1578
  %v1580 = icmp sgt i64 %v1572, 0
  %v1581 = select i1 %v1580, i64 %v1579, i64 0
  store i64 0, ptr %x23
  br label %head1582
head1582:
  %v1586 = load i64, ptr %x23
  store i64 %v1586, ptr %x22
  %v1587 = icmp slt i64 %v1586, %v1581
  br i1 %v1587, label %loop1583, label %after1585
loop1583:
  %v1588 = load i64, ptr %x20
  %v1589 = load i64, ptr %x22
  %v1590 = call {i64, i1} @llvm.sadd.with.overflow.i64(i64 %v1588, i64 %v1589)
  %v1591 = extractvalue {i64, i1} %v1590, 0
  store i64 %v1591, ptr %x24
  %v1592 = load ptr, ptr %x1
  %v1593 = load i64, ptr %v1592, !tbaa !2
  %v1594 = load i64, ptr %x24
  %v1595 = getelementptr i64, ptr %v1592, i64 2
  %v1596 = load ptr, ptr %v1595, !tbaa !2
  %v1597 = getelementptr i64, ptr %v1596, i64 %v1594
  %v1598 = load i64, ptr %v1597, !tbaa !4
  store i64 %v1598, ptr %x25
  %v1599 = load ptr, ptr %x3
  %v1600 = load i64, ptr %v1599, !tbaa !2
  %v1601 = load i64, ptr %x25
  %v1602 = getelementptr i64, ptr %v1599, i64 2
  %v1603 = load ptr, ptr %v1602, !tbaa !2
  %v1604 = getelementptr i64, ptr %v1603, i64 %v1601
  %v1605 = load i64, ptr %v1604, !tbaa !4
  %v1606 = trunc i64 %v1605 to i1
  store i1 %v1606, ptr %x26
  %v1607 = load i1, ptr %x26
  br i1 %v1607, label %then1608, label %else1609
then1608:
  %v1611 = load ptr, ptr %x2
  %v1612 = load i64, ptr %v1611, !tbaa !2
  %v1613 = load i64, ptr %x24
  %v1614 = getelementptr i64, ptr %v1611, i64 2
  %v1615 = load ptr, ptr %v1614, !tbaa !2
  %v1616 = getelementptr i64, ptr %v1615, i64 %v1613
  %v1617 = load double, ptr %v1616, !tbaa !3
  store double %v1617, ptr %x27
  %v1618 = load ptr, ptr %x1
  %v1619 = load i64, ptr %v1618, !tbaa !2
  %v1620 = load i64, ptr %x24
  %v1621 = getelementptr i64, ptr %v1618, i64 2
  %v1622 = load ptr, ptr %v1621, !tbaa !2
  %v1623 = getelementptr i64, ptr %v1622, i64 %v1620
  %v1624 = load i64, ptr %v1623, !tbaa !4
  store i64 %v1624, ptr %x28
  %v1625 = load ptr, ptr %x7
  %v1626 = load i64, ptr %v1625, !tbaa !2
  %v1627 = load i64, ptr %x28
  %v1628 = getelementptr i64, ptr %v1625, i64 2
  %v1629 = load ptr, ptr %v1628, !tbaa !2
  %v1630 = getelementptr i64, ptr %v1629, i64 %v1627
  %v1631 = load i64, ptr %v1630, !tbaa !4
  store i64 %v1631, ptr %x29
  %v1632 = load ptr, ptr %x14
  %v1633 = load i64, ptr %v1632, !tbaa !2
  %v1634 = load i64, ptr %x16
  %v1635 = load i64, ptr %x5
  %v1636 = call {i64, i1} @llvm.smul.with.overflow.i64(i64 %v1634, i64 %v1635)
  %v1637 = extractvalue {i64, i1} %v1636, 0
  %v1638 = load i64, ptr %x29
  %v1639 = call {i64, i1} @llvm.sadd.with.overflow.i64(i64 %v1637, i64 %v1638)
  %v1640 = extractvalue {i64, i1} %v1639, 0
  %v1641 = getelementptr i64, ptr %v1632, i64 2
  %v1642 = load ptr, ptr %v1641, !tbaa !2
  %v1643 = getelementptr i64, ptr %v1642, i64 %v1640
  %v1644 = load double, ptr %x27
  store double %v1644, ptr %v1643, !tbaa !3
  br label %after1610
else1609:
  br label %after1610
after1610:
  br label %next1584
next1584:
  %v1645 = load i64, ptr %x23
  %v1646 = add i64 %v1645, 1
  store i64 %v1646, ptr %x23
  br label %head1582
after1585:
  %v1647 = load i64, ptr %x16
  %v1648 = call {i64, i1} @llvm.sadd.with.overflow.i64(i64 %v1647, i64 1)
  %v1649 = extractvalue {i64, i1} %v1648, 0
  store i64 %v1649, ptr %x30
  br label %after1550
else1549:
  %v1650 = load i64, ptr %x16
  store i64 %v1650, ptr %x30
  br label %after1550
after1550:
  %v1651 = load i64, ptr %x30
  store i64 %v1651, ptr %x16
  br label %next1535
next1535:
  %v1652 = load i64, ptr %x18
  %v1653 = add i64 %v1652, 1
  store i64 %v1653, ptr %x18
  br label %head1533
after1536:
  store double 0x0000000000000000, ptr %x31
  %v1654 = load i64, ptr %x5
  store i64 0, ptr %x33
  br label %head1655
head1655:
  %v1659 = load i64, ptr %x33
  store i64 %v1659, ptr %x32
  %v1660 = icmp slt i64 %v1659, %v1654
  br i1 %v1660, label %loop1656, label %after1658
loop1656:
  store double 0x0000000000000000, ptr %x34
  %v1661 = load i64, ptr %x32
  store i64 %v1661, ptr %x35
  %v1662 = load i64, ptr %x32
  %v1663 = load i64, ptr %x5
  %v1664 = icmp sgt i64 1, 0
  %v1665 = sub i64 %v1663, %v1662
  %v1666 = sub i64 %v1662, %v1663
  %v1667 = select i1 %v1664, i64 %v1665, i64 %v1666
  %v1668 = sub i64 0, 1
  %v1669 = select i1 %v1664, i64 1, i64 %v1668
  %v1670 = sub i64 %v1669, 1
  %v1671 = add i64 %v1667, %v1670
  %v1672 = icmp eq i64 %v1669, 0
  %v1673 = select i1 %v1672, i64 1, i64 %v1669
  %v1674 = sdiv i64 %v1671, %v1673
  %v1675 = icmp sgt i64 %v1667, 0
  %v1676 = select i1 %v1675, i64 %v1674, i64 0
  store i64 0, ptr %x37
  br label %head1677
head1677:
  %v1681 = load i64, ptr %x37
  store i64 %v1681, ptr %x36
  %v1682 = icmp slt i64 %v1681, %v1676
  br i1 %v1682, label %loop1678, label %after1680
loop1678:
  %v1683 = load i64, ptr %x32
  %v1684 = load i64, ptr %x36
  %v1685 = call {i64, i1} @llvm.sadd.with.overflow.i64(i64 %v1683, i64 %v1684)
  %v1686 = extractvalue {i64, i1} %v1685, 0
  store i64 %v1686, ptr %x38
  %v1687 = load ptr, ptr %x14
  %v1688 = load i64, ptr %v1687, !tbaa !2
  %v1689 = load i64, ptr %x38
  %v1690 = load i64, ptr %x5
  %v1691 = call {i64, i1} @llvm.smul.with.overflow.i64(i64 %v1689, i64 %v1690)
  %v1692 = extractvalue {i64, i1} %v1691, 0
  %v1693 = load i64, ptr %x32
  %v1694 = call {i64, i1} @llvm.sadd.with.overflow.i64(i64 %v1692, i64 %v1693)
  %v1695 = extractvalue {i64, i1} %v1694, 0
  %v1696 = getelementptr i64, ptr %v1687, i64 2
  %v1697 = load ptr, ptr %v1696, !tbaa !2
  %v1698 = getelementptr i64, ptr %v1697, i64 %v1695
  %v1699 = load double, ptr %v1698, !tbaa !3
  store double %v1699, ptr %x39
  %v1700 = load double, ptr %x39
  %v1701 = call double @llvm.fabs.f64(double %v1700)
  %v1702 = load double, ptr %x34
  %v1703 = fcmp ogt double %v1701, %v1702
  br i1 %v1703, label %then1704, label %else1705
then1704:
  %v1707 = load ptr, ptr %x14
  %v1708 = load i64, ptr %v1707, !tbaa !2
  %v1709 = load i64, ptr %x38
  %v1710 = load i64, ptr %x5
  %v1711 = call {i64, i1} @llvm.smul.with.overflow.i64(i64 %v1709, i64 %v1710)
  %v1712 = extractvalue {i64, i1} %v1711, 0
  %v1713 = load i64, ptr %x32
  %v1714 = call {i64, i1} @llvm.sadd.with.overflow.i64(i64 %v1712, i64 %v1713)
  %v1715 = extractvalue {i64, i1} %v1714, 0
  %v1716 = getelementptr i64, ptr %v1707, i64 2
  %v1717 = load ptr, ptr %v1716, !tbaa !2
  %v1718 = getelementptr i64, ptr %v1717, i64 %v1715
  %v1719 = load double, ptr %v1718, !tbaa !3
  store double %v1719, ptr %x40
  %v1720 = load double, ptr %x40
  %v1721 = call double @llvm.fabs.f64(double %v1720)
  %v1722 = load i64, ptr %x38
  store double %v1721, ptr %x41
  store i64 %v1722, ptr %x42
  br label %after1706
else1705:
  %v1723 = load double, ptr %x34
  %v1724 = load i64, ptr %x35
  store double %v1723, ptr %x41
  store i64 %v1724, ptr %x42
  br label %after1706
after1706:
  %v1725 = load double, ptr %x41
  %v1726 = load i64, ptr %x42
  store double %v1725, ptr %x34
  store i64 %v1726, ptr %x35
  br label %next1679
next1679:
  %v1727 = load i64, ptr %x37
  %v1728 = add i64 %v1727, 1
  store i64 %v1728, ptr %x37
  br label %head1677
after1680:
  %v1729 = load double, ptr %x34
  %v1730 = fcmp ogt double %v1729, 0x0000000000000000
  %v1731 = xor i1 %v1730, true
  br i1 %v1731, label %then1732, label %else1733
then1732:
  br label %failed
else1733:
  br label %after1734
after1734:
  %v1735 = load i64, ptr %x35
  %v1736 = load i64, ptr %x32
  %v1737 = icmp ne i64 %v1735, %v1736
  br i1 %v1737, label %then1738, label %else1739
then1738:
  %v1741 = load i64, ptr %x32
  %v1742 = load i64, ptr %x5
  %v1743 = icmp sgt i64 1, 0
  %v1744 = sub i64 %v1742, %v1741
  %v1745 = sub i64 %v1741, %v1742
  %v1746 = select i1 %v1743, i64 %v1744, i64 %v1745
  %v1747 = sub i64 0, 1
  %v1748 = select i1 %v1743, i64 1, i64 %v1747
  %v1749 = sub i64 %v1748, 1
  %v1750 = add i64 %v1746, %v1749
  %v1751 = icmp eq i64 %v1748, 0
  %v1752 = select i1 %v1751, i64 1, i64 %v1748
  %v1753 = sdiv i64 %v1750, %v1752
  %v1754 = icmp sgt i64 %v1746, 0
  %v1755 = select i1 %v1754, i64 %v1753, i64 0
  store i64 0, ptr %x44
  br label %head1756
head1756:
  %v1760 = load i64, ptr %x44
  store i64 %v1760, ptr %x43
  %v1761 = icmp slt i64 %v1760, %v1755
  br i1 %v1761, label %loop1757, label %after1759
loop1757:
  %v1762 = load i64, ptr %x32
  %v1763 = load i64, ptr %x43
  %v1764 = call {i64, i1} @llvm.sadd.with.overflow.i64(i64 %v1762, i64 %v1763)
  %v1765 = extractvalue {i64, i1} %v1764, 0
  store i64 %v1765, ptr %x45
  %v1766 = load ptr, ptr %x14
  %v1767 = load i64, ptr %v1766, !tbaa !2
  %v1768 = load i64, ptr %x32
  %v1769 = load i64, ptr %x5
  %v1770 = call {i64, i1} @llvm.smul.with.overflow.i64(i64 %v1768, i64 %v1769)
  %v1771 = extractvalue {i64, i1} %v1770, 0
  %v1772 = load i64, ptr %x45
  %v1773 = call {i64, i1} @llvm.sadd.with.overflow.i64(i64 %v1771, i64 %v1772)
  %v1774 = extractvalue {i64, i1} %v1773, 0
  %v1775 = getelementptr i64, ptr %v1766, i64 2
  %v1776 = load ptr, ptr %v1775, !tbaa !2
  %v1777 = getelementptr i64, ptr %v1776, i64 %v1774
  %v1778 = load double, ptr %v1777, !tbaa !3
  store double %v1778, ptr %x46
  %v1779 = load ptr, ptr %x14
  %v1780 = load i64, ptr %v1779, !tbaa !2
  %v1781 = load i64, ptr %x35
  %v1782 = load i64, ptr %x5
  %v1783 = call {i64, i1} @llvm.smul.with.overflow.i64(i64 %v1781, i64 %v1782)
  %v1784 = extractvalue {i64, i1} %v1783, 0
  %v1785 = load i64, ptr %x45
  %v1786 = call {i64, i1} @llvm.sadd.with.overflow.i64(i64 %v1784, i64 %v1785)
  %v1787 = extractvalue {i64, i1} %v1786, 0
  %v1788 = getelementptr i64, ptr %v1779, i64 2
  %v1789 = load ptr, ptr %v1788, !tbaa !2
  %v1790 = getelementptr i64, ptr %v1789, i64 %v1787
  %v1791 = load double, ptr %v1790, !tbaa !3
  store double %v1791, ptr %x47
  %v1792 = load ptr, ptr %x14
  %v1793 = load i64, ptr %v1792, !tbaa !2
  %v1794 = load i64, ptr %x32
  %v1795 = load i64, ptr %x5
  %v1796 = call {i64, i1} @llvm.smul.with.overflow.i64(i64 %v1794, i64 %v1795)
  %v1797 = extractvalue {i64, i1} %v1796, 0
  %v1798 = load i64, ptr %x45
  %v1799 = call {i64, i1} @llvm.sadd.with.overflow.i64(i64 %v1797, i64 %v1798)
  %v1800 = extractvalue {i64, i1} %v1799, 0
  %v1801 = getelementptr i64, ptr %v1792, i64 2
  %v1802 = load ptr, ptr %v1801, !tbaa !2
  %v1803 = getelementptr i64, ptr %v1802, i64 %v1800
  %v1804 = load double, ptr %x47
  store double %v1804, ptr %v1803, !tbaa !3
  %v1805 = load ptr, ptr %x14
  %v1806 = load i64, ptr %v1805, !tbaa !2
  %v1807 = load i64, ptr %x35
  %v1808 = load i64, ptr %x5
  %v1809 = call {i64, i1} @llvm.smul.with.overflow.i64(i64 %v1807, i64 %v1808)
  %v1810 = extractvalue {i64, i1} %v1809, 0
  %v1811 = load i64, ptr %x45
  %v1812 = call {i64, i1} @llvm.sadd.with.overflow.i64(i64 %v1810, i64 %v1811)
  %v1813 = extractvalue {i64, i1} %v1812, 0
  %v1814 = getelementptr i64, ptr %v1805, i64 2
  %v1815 = load ptr, ptr %v1814, !tbaa !2
  %v1816 = getelementptr i64, ptr %v1815, i64 %v1813
  %v1817 = load double, ptr %x46
  store double %v1817, ptr %v1816, !tbaa !3
  br label %next1758
next1758:
  %v1818 = load i64, ptr %x44
  %v1819 = add i64 %v1818, 1
  store i64 %v1819, ptr %x44
  br label %head1756
after1759:
  br label %after1740
else1739:
  br label %after1740
after1740:
  %v1820 = load i64, ptr %x32
  %v1821 = call {i64, i1} @llvm.sadd.with.overflow.i64(i64 %v1820, i64 1)
  %v1822 = extractvalue {i64, i1} %v1821, 0
  store i64 %v1822, ptr %x48
  %v1823 = load i64, ptr %x48
  %v1824 = load i64, ptr %x5
  %v1825 = icmp sgt i64 1, 0
  %v1826 = sub i64 %v1824, %v1823
  %v1827 = sub i64 %v1823, %v1824
  %v1828 = select i1 %v1825, i64 %v1826, i64 %v1827
  %v1829 = sub i64 0, 1
  %v1830 = select i1 %v1825, i64 1, i64 %v1829
  %v1831 = sub i64 %v1830, 1
  %v1832 = add i64 %v1828, %v1831
  %v1833 = icmp eq i64 %v1830, 0
  %v1834 = select i1 %v1833, i64 1, i64 %v1830
  %v1835 = sdiv i64 %v1832, %v1834
  %v1836 = icmp sgt i64 %v1828, 0
  %v1837 = select i1 %v1836, i64 %v1835, i64 0
  store i64 0, ptr %x50
  br label %head1838
head1838:
  %v1842 = load i64, ptr %x50
  store i64 %v1842, ptr %x49
  %v1843 = icmp slt i64 %v1842, %v1837
  br i1 %v1843, label %loop1839, label %after1841
loop1839:
  %v1844 = load i64, ptr %x48
  %v1845 = load i64, ptr %x49
  %v1846 = call {i64, i1} @llvm.sadd.with.overflow.i64(i64 %v1844, i64 %v1845)
  %v1847 = extractvalue {i64, i1} %v1846, 0
  store i64 %v1847, ptr %x51
  %v1848 = load ptr, ptr %x14
  %v1849 = load i64, ptr %v1848, !tbaa !2
  %v1850 = load i64, ptr %x51
  %v1851 = load i64, ptr %x5
  %v1852 = call {i64, i1} @llvm.smul.with.overflow.i64(i64 %v1850, i64 %v1851)
  %v1853 = extractvalue {i64, i1} %v1852, 0
  %v1854 = load i64, ptr %x32
  %v1855 = call {i64, i1} @llvm.sadd.with.overflow.i64(i64 %v1853, i64 %v1854)
  %v1856 = extractvalue {i64, i1} %v1855, 0
  %v1857 = getelementptr i64, ptr %v1848, i64 2
  %v1858 = load ptr, ptr %v1857, !tbaa !2
  %v1859 = getelementptr i64, ptr %v1858, i64 %v1856
  %v1860 = load double, ptr %v1859, !tbaa !3
  store double %v1860, ptr %x52
  %v1861 = load ptr, ptr %x14
  %v1862 = load i64, ptr %v1861, !tbaa !2
  %v1863 = load i64, ptr %x32
  %v1864 = load i64, ptr %x5
  %v1865 = call {i64, i1} @llvm.smul.with.overflow.i64(i64 %v1863, i64 %v1864)
  %v1866 = extractvalue {i64, i1} %v1865, 0
  %v1867 = load i64, ptr %x32
  %v1868 = call {i64, i1} @llvm.sadd.with.overflow.i64(i64 %v1866, i64 %v1867)
  %v1869 = extractvalue {i64, i1} %v1868, 0
  %v1870 = getelementptr i64, ptr %v1861, i64 2
  %v1871 = load ptr, ptr %v1870, !tbaa !2
  %v1872 = getelementptr i64, ptr %v1871, i64 %v1869
  %v1873 = load double, ptr %v1872, !tbaa !3
  store double %v1873, ptr %x53
  %v1874 = load double, ptr %x52
  %v1875 = load double, ptr %x53
  %v1876 = fcmp oeq double %v1875, 0.0
  br i1 %v1876, label %failed, label %ok1877, !prof !20
ok1877:
  %v1878 = fdiv double %v1874, %v1875
  store double %v1878, ptr %x54
  %v1879 = load double, ptr %x54
  %v1880 = fcmp une double %v1879, 0x0000000000000000
  br i1 %v1880, label %then1881, label %else1882
then1881:
  %v1884 = load i64, ptr %x32
  %v1885 = call {i64, i1} @llvm.sadd.with.overflow.i64(i64 %v1884, i64 1)
  %v1886 = extractvalue {i64, i1} %v1885, 0
  store i64 %v1886, ptr %x55
  %v1887 = load i64, ptr %x55
  %v1888 = load i64, ptr %x5
  %v1889 = icmp sgt i64 1, 0
  %v1890 = sub i64 %v1888, %v1887
  %v1891 = sub i64 %v1887, %v1888
  %v1892 = select i1 %v1889, i64 %v1890, i64 %v1891
  %v1893 = sub i64 0, 1
  %v1894 = select i1 %v1889, i64 1, i64 %v1893
  %v1895 = sub i64 %v1894, 1
  %v1896 = add i64 %v1892, %v1895
  %v1897 = icmp eq i64 %v1894, 0
  %v1898 = select i1 %v1897, i64 1, i64 %v1894
  %v1899 = sdiv i64 %v1896, %v1898
  %v1900 = icmp sgt i64 %v1892, 0
  %v1901 = select i1 %v1900, i64 %v1899, i64 0
  store i64 0, ptr %x57
  br label %head1902
head1902:
  %v1906 = load i64, ptr %x57
  store i64 %v1906, ptr %x56
  %v1907 = icmp slt i64 %v1906, %v1901
  br i1 %v1907, label %loop1903, label %after1905
loop1903:
  %v1908 = load i64, ptr %x55
  %v1909 = load i64, ptr %x56
  %v1910 = call {i64, i1} @llvm.sadd.with.overflow.i64(i64 %v1908, i64 %v1909)
  %v1911 = extractvalue {i64, i1} %v1910, 0
  store i64 %v1911, ptr %x58
  %v1912 = load i64, ptr %x51
  %v1913 = load i64, ptr %x5
  %v1914 = call {i64, i1} @llvm.smul.with.overflow.i64(i64 %v1912, i64 %v1913)
  %v1915 = extractvalue {i64, i1} %v1914, 0
  %v1916 = load i64, ptr %x58
  %v1917 = call {i64, i1} @llvm.sadd.with.overflow.i64(i64 %v1915, i64 %v1916)
  %v1918 = extractvalue {i64, i1} %v1917, 0
  store i64 %v1918, ptr %x59
  %v1919 = load ptr, ptr %x14
  %v1920 = load i64, ptr %v1919, !tbaa !2
  %v1921 = load i64, ptr %x59
  %v1922 = getelementptr i64, ptr %v1919, i64 2
  %v1923 = load ptr, ptr %v1922, !tbaa !2
  %v1924 = getelementptr i64, ptr %v1923, i64 %v1921
  %v1925 = load double, ptr %v1924, !tbaa !3
  store double %v1925, ptr %x60
  %v1926 = load ptr, ptr %x14
  %v1927 = load i64, ptr %v1926, !tbaa !2
  %v1928 = load i64, ptr %x32
  %v1929 = load i64, ptr %x5
  %v1930 = call {i64, i1} @llvm.smul.with.overflow.i64(i64 %v1928, i64 %v1929)
  %v1931 = extractvalue {i64, i1} %v1930, 0
  %v1932 = load i64, ptr %x58
  %v1933 = call {i64, i1} @llvm.sadd.with.overflow.i64(i64 %v1931, i64 %v1932)
  %v1934 = extractvalue {i64, i1} %v1933, 0
  %v1935 = getelementptr i64, ptr %v1926, i64 2
  %v1936 = load ptr, ptr %v1935, !tbaa !2
  %v1937 = getelementptr i64, ptr %v1936, i64 %v1934
  %v1938 = load double, ptr %v1937, !tbaa !3
  store double %v1938, ptr %x61
  %v1939 = load ptr, ptr %x14
  %v1940 = load i64, ptr %v1939, !tbaa !2
  %v1941 = load i64, ptr %x59
  %v1942 = getelementptr i64, ptr %v1939, i64 2
  %v1943 = load ptr, ptr %v1942, !tbaa !2
  %v1944 = getelementptr i64, ptr %v1943, i64 %v1941
  %v1945 = load double, ptr %x60
  %v1946 = load double, ptr %x54
  %v1947 = load double, ptr %x61
  %v1948 = fmul double %v1946, %v1947
  %v1949 = fsub double %v1945, %v1948
  store double %v1949, ptr %v1944, !tbaa !3
  br label %next1904
next1904:
  %v1950 = load i64, ptr %x57
  %v1951 = add i64 %v1950, 1
  store i64 %v1951, ptr %x57
  br label %head1902
after1905:
  br label %after1883
else1882:
  br label %after1883
after1883:
  br label %next1840
next1840:
  %v1952 = load i64, ptr %x50
  %v1953 = add i64 %v1952, 1
  store i64 %v1953, ptr %x50
  br label %head1838
after1841:
  %v1954 = load double, ptr %x31
  %v1955 = load double, ptr %x34
  %v1956 = call double @log(double %v1955)
  %v1957 = call double @llvm.fabs.f64(double %v1956)
  %v1958 = fcmp ueq double %v1957, 0x7FF0000000000000
  br i1 %v1958, label %check1959, label %ok1960, !prof !20
check1959:
  %v1961 = call i1 @gendsl_odd1(double %v1956, double %v1955)
  br i1 %v1961, label %failed, label %ok1960
ok1960:
  %v1962 = fadd double %v1954, %v1956
  store double %v1962, ptr %x31
  br label %next1657
next1657:
  %v1963 = load i64, ptr %x33
  %v1964 = add i64 %v1963, 1
  store i64 %v1964, ptr %x33
  br label %head1655
after1658:
  %v1965 = load double, ptr %x31
  %v1966 = insertvalue {i32, double} zeroinitializer, double %v1965, 1
  ret {i32, double} %v1966
failed:
  %v1967 = phi i64 [12, %entry], [13, %after1483], [14, %then1732], [15, %loop1839], [16, %check1959]
  %v1968 = getelementptr i64, ptr %ctx, i64 2
  store i64 %v1967, ptr %v1968, !tbaa !1
  br label %leave
leave:
  %v1969 = phi i32 [2, %ok1466], [2, %ok1519], [1, %failed]
  %v1970 = insertvalue {i32, double} zeroinitializer, i32 %v1969, 0
  ret {i32, double} %v1970
}

define {i32, double} @gendsl_slopes_log_abs_det(ptr align 8 dereferenceable(544) %ctx, ptr %p0, ptr %p1) noinline {
entry:
  %x0 = alloca ptr
  store ptr zeroinitializer, ptr %x0
  %x1 = alloca ptr
  store ptr zeroinitializer, ptr %x1
  %x2 = alloca i64
  store i64 zeroinitializer, ptr %x2
  %x3 = alloca ptr
  store ptr zeroinitializer, ptr %x3
  %x4 = alloca i64
  store i64 zeroinitializer, ptr %x4
  %x5 = alloca i64
  store i64 zeroinitializer, ptr %x5
  %x6 = alloca i64
  store i64 zeroinitializer, ptr %x6
  %x7 = alloca i64
  store i64 zeroinitializer, ptr %x7
  %x8 = alloca ptr
  store ptr zeroinitializer, ptr %x8
  %x9 = alloca i64
  store i64 zeroinitializer, ptr %x9
  %x10 = alloca ptr
  store ptr zeroinitializer, ptr %x10
  %x11 = alloca i64
  store i64 zeroinitializer, ptr %x11
  %x12 = alloca ptr
  store ptr zeroinitializer, ptr %x12
  %x13 = alloca i64
  store i64 zeroinitializer, ptr %x13
  %x14 = alloca i64
  store i64 zeroinitializer, ptr %x14
  %x15 = alloca i64
  store i64 zeroinitializer, ptr %x15
  %x16 = alloca i64
  store i64 zeroinitializer, ptr %x16
  %x17 = alloca ptr
  store ptr zeroinitializer, ptr %x17
  %x18 = alloca i64
  store i64 zeroinitializer, ptr %x18
  %x19 = alloca i64
  store i64 zeroinitializer, ptr %x19
  %x20 = alloca i64
  store i64 zeroinitializer, ptr %x20
  %x21 = alloca i64
  store i64 zeroinitializer, ptr %x21
  %x22 = alloca i64
  store i64 zeroinitializer, ptr %x22
  %x23 = alloca double
  store double zeroinitializer, ptr %x23
  %x24 = alloca i64
  store i64 zeroinitializer, ptr %x24
  %x25 = alloca i1
  store i1 zeroinitializer, ptr %x25
  %x26 = alloca i64
  store i64 zeroinitializer, ptr %x26
  %x27 = alloca i64
  store i64 zeroinitializer, ptr %x27
  %x28 = alloca ptr
  store ptr zeroinitializer, ptr %x28
  %x29 = alloca i64
  store i64 zeroinitializer, ptr %x29
  %x30 = alloca ptr
  store ptr zeroinitializer, ptr %x30
  %x31 = alloca i64
  store i64 zeroinitializer, ptr %x31
  %x32 = alloca ptr
  store ptr zeroinitializer, ptr %x32
  %x33 = alloca ptr
  store ptr zeroinitializer, ptr %x33
  %x34 = alloca ptr
  store ptr zeroinitializer, ptr %x34
  %x35 = alloca ptr
  store ptr zeroinitializer, ptr %x35
  %x36 = alloca ptr
  store ptr zeroinitializer, ptr %x36
  %x37 = alloca i64
  store i64 zeroinitializer, ptr %x37
  %x38 = alloca double
  store double zeroinitializer, ptr %x38
  %x39 = alloca i64
  store i64 zeroinitializer, ptr %x39
  %x40 = alloca i64
  store i64 zeroinitializer, ptr %x40
  %x41 = alloca ptr
  store ptr zeroinitializer, ptr %x41
  %x42 = alloca ptr
  store ptr zeroinitializer, ptr %x42
  %x43 = alloca ptr
  store ptr zeroinitializer, ptr %x43
  %x44 = alloca ptr
  store ptr zeroinitializer, ptr %x44
  %x45 = alloca ptr
  store ptr zeroinitializer, ptr %x45
  %x46 = alloca ptr
  store ptr zeroinitializer, ptr %x46
  %x47 = alloca ptr
  store ptr zeroinitializer, ptr %x47
  %x48 = alloca ptr
  store ptr zeroinitializer, ptr %x48
  %x49 = alloca double
  store double zeroinitializer, ptr %x49
  %x50 = alloca i64
  store i64 zeroinitializer, ptr %x50
  %x51 = alloca ptr
  store ptr zeroinitializer, ptr %x51
  %x52 = alloca ptr
  store ptr zeroinitializer, ptr %x52
  %x53 = alloca ptr
  store ptr zeroinitializer, ptr %x53
  %x54 = alloca ptr
  store ptr zeroinitializer, ptr %x54
  %x55 = alloca ptr
  store ptr zeroinitializer, ptr %x55
  %x56 = alloca double
  store double zeroinitializer, ptr %x56
  %x57 = alloca i64
  store i64 zeroinitializer, ptr %x57
  %x58 = alloca double
  store double zeroinitializer, ptr %x58
  %x59 = alloca double
  store double zeroinitializer, ptr %x59
  store ptr %p0, ptr %x0
  store ptr %p1, ptr %x1
  %v1971 = load ptr, ptr %x0
  %v1972 = load i64, ptr %v1971, !tbaa !2
  store i64 %v1972, ptr %x2
  %v1973 = load i64, ptr %x2
  %v1974 = call {i64, i1} @llvm.sadd.with.overflow.i64(i64 %v1973, i64 1)
  %v1975 = extractvalue {i64, i1} %v1974, 0
  %v1976 = icmp slt i64 %v1975, 0
  %v1977 = select i1 %v1976, i64 0, i64 %v1975
  %v1978 = icmp ugt i64 %v1977, 1000000000
  br i1 %v1978, label %failed, label %ok1979, !prof !20
ok1979:
  %v1980 = call ptr @gendsl_new_list(ptr %ctx, i64 %v1977, i64 %v1977, i64 1)
  %v1981 = icmp eq ptr %v1980, null
  br i1 %v1981, label %leave, label %ok1982, !prof !20
ok1982:
  store ptr %v1980, ptr %x3
  %v1983 = getelementptr i64, ptr %v1980, i64 3
  store i64 0, ptr %x4
  br label %head1984
head1984:
  %v1987 = load i64, ptr %x4
  %v1988 = icmp slt i64 %v1987, %v1977
  br i1 %v1988, label %each1985, label %after1986
each1985:
  %v1989 = mul i64 %v1987, 1
  %v1990 = getelementptr i64, ptr %v1983, i64 %v1989
  store i64 0, ptr %v1990, !tbaa !4
  %v1991 = add i64 %v1987, 1
  store i64 %v1991, ptr %x4
  br label %head1984
after1986:
  store i64 0, ptr %x5
  %v1992 = load i64, ptr %x2
  store i64 0, ptr %x7
  br label %head1993
head1993:
  %v1997 = load i64, ptr %x7
  store i64 %v1997, ptr %x6
  %v1998 = icmp slt i64 %v1997, %v1992
  br i1 %v1998, label %loop1994, label %after1996
loop1994:
  %v1999 = load ptr, ptr %x0
  %v2000 = load i64, ptr %v1999, !tbaa !2
  %v2001 = load i64, ptr %x6
  %v2002 = getelementptr i64, ptr %v1999, i64 2
  %v2003 = load ptr, ptr %v2002, !tbaa !2
  %v2004 = getelementptr i64, ptr %v2003, i64 %v2001
  %v2005 = load ptr, ptr %v2004, !tbaa !5
  store ptr %v2005, ptr %x8
  %v2006 = load ptr, ptr %x8
  %v2007 = load i64, ptr %v2006, !tbaa !2
  store i64 %v2007, ptr %x9
  %v2008 = load i64, ptr %x5
  %v2009 = load i64, ptr %x9
  %v2010 = call {i64, i1} @llvm.sadd.with.overflow.i64(i64 %v2008, i64 %v2009)
  %v2011 = extractvalue {i64, i1} %v2010, 0
  store i64 %v2011, ptr %x5
  br label %next1995
next1995:
  %v2012 = load i64, ptr %x7
  %v2013 = add i64 %v2012, 1
  store i64 %v2013, ptr %x7
  br label %head1993
after1996:
  %v2014 = load i64, ptr %x5
  %v2015 = icmp slt i64 %v2014, 0
  %v2016 = select i1 %v2015, i64 0, i64 %v2014
  %v2017 = icmp ugt i64 %v2016, 1000000000
  br i1 %v2017, label %failed, label %ok2018, !prof !20
ok2018:
  %v2019 = call ptr @gendsl_new_list(ptr %ctx, i64 %v2016, i64 %v2016, i64 1)
  %v2020 = icmp eq ptr %v2019, null
  br i1 %v2020, label %leave, label %ok2021, !prof !20
ok2021:
  store ptr %v2019, ptr %x10
  %v2022 = getelementptr i64, ptr %v2019, i64 3
  store i64 0, ptr %x11
  br label %head2023
head2023:
  %v2026 = load i64, ptr %x11
  %v2027 = icmp slt i64 %v2026, %v2016
  br i1 %v2027, label %each2024, label %after2025
each2024:
  %v2028 = mul i64 %v2026, 1
  %v2029 = getelementptr i64, ptr %v2022, i64 %v2028
  store i64 0, ptr %v2029, !tbaa !4
  %v2030 = add i64 %v2026, 1
  store i64 %v2030, ptr %x11
  br label %head2023
after2025:
  %v2031 = load i64, ptr %x5
  %v2032 = icmp slt i64 %v2031, 0
  %v2033 = select i1 %v2032, i64 0, i64 %v2031
  %v2034 = icmp ugt i64 %v2033, 1000000000
  br i1 %v2034, label %failed, label %ok2035, !prof !20
ok2035:
  %v2036 = call ptr @gendsl_new_list(ptr %ctx, i64 %v2033, i64 %v2033, i64 1)
  %v2037 = icmp eq ptr %v2036, null
  br i1 %v2037, label %leave, label %ok2038, !prof !20
ok2038:
  store ptr %v2036, ptr %x12
  %v2039 = getelementptr i64, ptr %v2036, i64 3
  store i64 0, ptr %x13
  br label %head2040
head2040:
  %v2043 = load i64, ptr %x13
  %v2044 = icmp slt i64 %v2043, %v2033
  br i1 %v2044, label %each2041, label %after2042
each2041:
  %v2045 = mul i64 %v2043, 1
  %v2046 = getelementptr i64, ptr %v2039, i64 %v2045
  store double 0x0000000000000000, ptr %v2046, !tbaa !3
  %v2047 = add i64 %v2043, 1
  store i64 %v2047, ptr %x13
  br label %head2040
after2042:
  store i64 0, ptr %x14
  %v2048 = load i64, ptr %x2
  store i64 0, ptr %x16
  br label %head2049
head2049:
  %v2053 = load i64, ptr %x16
  store i64 %v2053, ptr %x15
  %v2054 = icmp slt i64 %v2053, %v2048
  br i1 %v2054, label %loop2050, label %after2052
loop2050:
  %v2055 = load ptr, ptr %x0
  %v2056 = load i64, ptr %v2055, !tbaa !2
  %v2057 = load i64, ptr %x15
  %v2058 = getelementptr i64, ptr %v2055, i64 2
  %v2059 = load ptr, ptr %v2058, !tbaa !2
  %v2060 = getelementptr i64, ptr %v2059, i64 %v2057
  %v2061 = load ptr, ptr %v2060, !tbaa !5
  store ptr %v2061, ptr %x17
  %v2062 = load ptr, ptr %x17
  %v2063 = load i64, ptr %v2062, !tbaa !2
  store i64 %v2063, ptr %x18
  %v2064 = load i64, ptr %x14
  store i64 %v2064, ptr %x19
  %v2065 = load i64, ptr %x18
  store i64 0, ptr %x21
  br label %head2066
head2066:
  %v2070 = load i64, ptr %x21
  store i64 %v2070, ptr %x20
  %v2071 = icmp slt i64 %v2070, %v2065
  br i1 %v2071, label %loop2067, label %after2069
loop2067:
  %v2072 = load ptr, ptr %x17
  %v2073 = load i64, ptr %v2072, !tbaa !2
  %v2074 = load i64, ptr %x20
  %v2075 = getelementptr i64, ptr %v2072, i64 2
  %v2076 = load ptr, ptr %v2075, !tbaa !2
  %v2077 = mul i64 %v2074, 2
  %v2078 = getelementptr i64, ptr %v2076, i64 %v2077
  %v2079 = load i64, ptr %v2078, !tbaa !4
  %v2080 = getelementptr i64, ptr %v2078, i64 1
  %v2081 = load double, ptr %v2080, !tbaa !3
  store i64 %v2079, ptr %x22
  store double %v2081, ptr %x23
  %v2082 = load double, ptr %x23
  %v2083 = call double @llvm.fabs.f64(double %v2082)
  %v2084 = fcmp olt double %v2083, 0x7FF0000000000000
  %v2085 = xor i1 %v2084, true
  br i1 %v2085, label %then2086, label %else2087
then2086:
  br label %failed
else2087:
  br label %after2088
after2088:
  %v2089 = load i64, ptr %x22
  %v2090 = icmp sge i64 %v2089, 0
  br i1 %v2090, label %then2091, label %else2092
then2091:
  %v2094 = load ptr, ptr %x1
  %v2095 = load i64, ptr %v2094, !tbaa !2
  %v2096 = load i64, ptr %x22
  %v2097 = getelementptr i64, ptr %v2094, i64 2
  %v2098 = load ptr, ptr %v2097, !tbaa !2
  %v2099 = getelementptr i64, ptr %v2098, i64 %v2096
  %v2100 = load i64, ptr %v2099, !tbaa !4
  store i64 %v2100, ptr %x24
  %v2101 = load i64, ptr %x24
  %v2102 = icmp sge i64 %v2101, 0
  %v2103 = load double, ptr %x23
  %v2104 = fcmp une double %v2103, 0x0000000000000000
  %v2105 = select i1 %v2102, i1 %v2104, i1 false
  store i1 %v2105, ptr %x25
  br label %after2093
else2092:
  store i1 false, ptr %x25
  br label %after2093
after2093:
  %v2106 = load i1, ptr %x25
  br i1 %v2106, label %then2107, label %else2108
then2107:
  %v2110 = load ptr, ptr %x1
  %v2111 = load i64, ptr %v2110, !tbaa !2
  %v2112 = load i64, ptr %x22
  %v2113 = getelementptr i64, ptr %v2110, i64 2
  %v2114 = load ptr, ptr %v2113, !tbaa !2
  %v2115 = getelementptr i64, ptr %v2114, i64 %v2112
  %v2116 = load i64, ptr %v2115, !tbaa !4
  store i64 %v2116, ptr %x26
  %v2117 = load ptr, ptr %x10
  %v2118 = load i64, ptr %v2117, !tbaa !2
  %v2119 = load i64, ptr %x19
  %v2120 = getelementptr i64, ptr %v2117, i64 2
  %v2121 = load ptr, ptr %v2120, !tbaa !2
  %v2122 = getelementptr i64, ptr %v2121, i64 %v2119
  %v2123 = load i64, ptr %x26
  store i64 %v2123, ptr %v2122, !tbaa !4
  %v2124 = load ptr, ptr %x12
  %v2125 = load i64, ptr %v2124, !tbaa !2
  %v2126 = load i64, ptr %x19
  %v2127 = getelementptr i64, ptr %v2124, i64 2
  %v2128 = load ptr, ptr %v2127, !tbaa !2
  %v2129 = getelementptr i64, ptr %v2128, i64 %v2126
  %v2130 = load double, ptr %x23
  store double %v2130, ptr %v2129, !tbaa !3
  %v2131 = load i64, ptr %x19
  %v2132 = call {i64, i1} @llvm.sadd.with.overflow.i64(i64 %v2131, i64 1)
  %v2133 = extractvalue {i64, i1} %v2132, 0
  store i64 %v2133, ptr %x27
  br label %after2109
else2108:
  %v2134 = load i64, ptr %x19
  store i64 %v2134, ptr %x27
  br label %after2109
after2109:
  %v2135 = load i64, ptr %x27
  store i64 %v2135, ptr %x19
  br label %next2068
next2068:
  %v2136 = load i64, ptr %x21
  %v2137 = add i64 %v2136, 1
  store i64 %v2137, ptr %x21
  br label %head2066
after2069:
  %v2138 = load ptr, ptr %x3
  %v2139 = load i64, ptr %v2138, !tbaa !2
  %v2140 = load i64, ptr %x15
  %v2141 = call {i64, i1} @llvm.sadd.with.overflow.i64(i64 %v2140, i64 1)
  %v2142 = extractvalue {i64, i1} %v2141, 0
  %v2143 = getelementptr i64, ptr %v2138, i64 2
  %v2144 = load ptr, ptr %v2143, !tbaa !2
  %v2145 = getelementptr i64, ptr %v2144, i64 %v2142
  %v2146 = load i64, ptr %x19
  store i64 %v2146, ptr %v2145, !tbaa !4
  %v2147 = load i64, ptr %x19
  store i64 %v2147, ptr %x14
  br label %next2051
next2051:
  %v2148 = load i64, ptr %x16
  %v2149 = add i64 %v2148, 1
  store i64 %v2149, ptr %x16
  br label %head2049
after2052:
  %v2150 = load i64, ptr %x2
  %v2151 = icmp slt i64 %v2150, 0
  %v2152 = select i1 %v2151, i64 0, i64 %v2150
  %v2153 = icmp ugt i64 %v2152, 1000000000
  br i1 %v2153, label %failed, label %ok2154, !prof !20
ok2154:
  %v2155 = call ptr @gendsl_new_list(ptr %ctx, i64 %v2152, i64 %v2152, i64 1)
  %v2156 = icmp eq ptr %v2155, null
  br i1 %v2156, label %leave, label %ok2157, !prof !20
ok2157:
  store ptr %v2155, ptr %x28
  %v2158 = getelementptr i64, ptr %v2155, i64 3
  store i64 0, ptr %x29
  br label %head2159
head2159:
  %v2162 = load i64, ptr %x29
  %v2163 = icmp slt i64 %v2162, %v2152
  br i1 %v2163, label %each2160, label %after2161
each2160:
  %v2164 = mul i64 %v2162, 1
  %v2165 = getelementptr i64, ptr %v2158, i64 %v2164
  %v2166 = zext i1 true to i64
  store i64 %v2166, ptr %v2165, !tbaa !4
  %v2167 = add i64 %v2162, 1
  store i64 %v2167, ptr %x29
  br label %head2159
after2161:
  %v2168 = load i64, ptr %x2
  %v2169 = icmp slt i64 %v2168, 0
  %v2170 = select i1 %v2169, i64 0, i64 %v2168
  %v2171 = icmp ugt i64 %v2170, 1000000000
  br i1 %v2171, label %failed, label %ok2172, !prof !20
ok2172:
  %v2173 = call ptr @gendsl_new_list(ptr %ctx, i64 %v2170, i64 %v2170, i64 1)
  %v2174 = icmp eq ptr %v2173, null
  br i1 %v2174, label %leave, label %ok2175, !prof !20
ok2175:
  store ptr %v2173, ptr %x30
  %v2176 = getelementptr i64, ptr %v2173, i64 3
  store i64 0, ptr %x31
  br label %head2177
head2177:
  %v2180 = load i64, ptr %x31
  %v2181 = icmp slt i64 %v2180, %v2170
  br i1 %v2181, label %each2178, label %after2179
each2178:
  %v2182 = mul i64 %v2180, 1
  %v2183 = getelementptr i64, ptr %v2176, i64 %v2182
  %v2184 = zext i1 true to i64
  store i64 %v2184, ptr %v2183, !tbaa !4
  %v2185 = add i64 %v2180, 1
  store i64 %v2185, ptr %x31
  br label %head2177
after2179:
  %v2186 = load ptr, ptr %x3
  store ptr %v2186, ptr %x32
  %v2187 = load ptr, ptr %x10
  store ptr %v2187, ptr %x33
  %v2188 = load ptr, ptr %x12
  store ptr %v2188, ptr %x34
  %v2189 = load ptr, ptr %x28
  store ptr %v2189, ptr %x35
  %v2190 = load ptr, ptr %x30
  store ptr %v2190, ptr %x36
  %v2191 = load i64, ptr %x2
  store i64 %v2191, ptr %x37
  store double 0x0000000000000000, ptr %x38
  store i64 0, ptr %x40
  br label %head2192
head2192:
  %v2196 = load i64, ptr %x40
  store i64 %v2196, ptr %x39
  %v2197 = icmp slt i64 %v2196, 2
  br i1 %v2197, label %loop2193, label %after2195
loop2193:
  %v2198 = load i64, ptr %x37
  %v2199 = icmp sgt i64 %v2198, 0
  br i1 %v2199, label %then2200, label %else2201
then2200:
  %v2203 = load i64, ptr %x39
  %v2204 = icmp eq i64 %v2203, 1
  br i1 %v2204, label %then2205, label %else2206
then2205:
  %v2208 = load ptr, ptr %x32
  %v2209 = load ptr, ptr %x33
  %v2210 = load ptr, ptr %x34
  %v2211 = call {i32, ptr, ptr, ptr} @gendsl_slopes_transposed(ptr %ctx, ptr %v2208, ptr %v2209, ptr %v2210)
  %v2212 = extractvalue {i32, ptr, ptr, ptr} %v2211, 0
  %v2214 = icmp ne i32 %v2212, 0
  br i1 %v2214, label %leave, label %ok2213, !prof !20
ok2213:
  %v2215 = extractvalue {i32, ptr, ptr, ptr} %v2211, 1
  %v2216 = extractvalue {i32, ptr, ptr, ptr} %v2211, 2
  %v2217 = extractvalue {i32, ptr, ptr, ptr} %v2211, 3
  store ptr %v2215, ptr %x41
  store ptr %v2216, ptr %x42
  store ptr %v2217, ptr %x43
  %v2218 = load ptr, ptr %x41
  %v2219 = load ptr, ptr %x42
  %v2220 = load ptr, ptr %x43
  %v2221 = load ptr, ptr %x36
  %v2222 = load ptr, ptr %x35
  store ptr %v2218, ptr %x44
  store ptr %v2219, ptr %x45
  store ptr %v2220, ptr %x46
  store ptr %v2221, ptr %x47
  store ptr %v2222, ptr %x48
  br label %after2207
else2206:
  %v2223 = load ptr, ptr %x32
  %v2224 = load ptr, ptr %x33
  %v2225 = load ptr, ptr %x34
  %v2226 = load ptr, ptr %x35
  %v2227 = load ptr, ptr %x36
  store ptr %v2223, ptr %x44
  store ptr %v2224, ptr %x45
  store ptr %v2225, ptr %x46
  store ptr %v2226, ptr %x47
  store ptr %v2227, ptr %x48
  br label %after2207
after2207:
  %v2228 = load ptr, ptr %x44
  %v2229 = load ptr, ptr %x45
  %v2230 = load ptr, ptr %x46
  %v2231 = load ptr, ptr %x47
  %v2232 = load ptr, ptr %x48
  %v2233 = call {i32, double, i64} @gendsl_slopes_taken_out(ptr %ctx, ptr %v2228, ptr %v2229, ptr %v2230, ptr %v2231, ptr %v2232)
  %v2234 = extractvalue {i32, double, i64} %v2233, 0
  %v2236 = icmp ne i32 %v2234, 0
  br i1 %v2236, label %leave, label %ok2235, !prof !20
ok2235:
  %v2237 = extractvalue {i32, double, i64} %v2233, 1
  %v2238 = extractvalue {i32, double, i64} %v2233, 2
  store double %v2237, ptr %x49
  store i64 %v2238, ptr %x50
  %v2239 = load ptr, ptr %x44
  %v2240 = load ptr, ptr %x45
  %v2241 = load ptr, ptr %x46
  %v2242 = load ptr, ptr %x47
  %v2243 = load ptr, ptr %x48
  %v2244 = load double, ptr %x38
  %v2245 = load double, ptr %x49
  %v2246 = fadd double %v2244, %v2245
  %v2247 = load i64, ptr %x50
  store ptr %v2239, ptr %x51
  store ptr %v2240, ptr %x52
  store ptr %v2241, ptr %x53
  store ptr %v2242, ptr %x54
  store ptr %v2243, ptr %x55
  store double %v2246, ptr %x56
  store i64 %v2247, ptr %x57
  br label %after2202
else2201:
  %v2248 = load ptr, ptr %x32
  %v2249 = load ptr, ptr %x33
  %v2250 = load ptr, ptr %x34
  %v2251 = load ptr, ptr %x35
  %v2252 = load ptr, ptr %x36
  %v2253 = load double, ptr %x38
  %v2254 = load i64, ptr %x37
  store ptr %v2248, ptr %x51
  store ptr %v2249, ptr %x52
  store ptr %v2250, ptr %x53
  store ptr %v2251, ptr %x54
  store ptr %v2252, ptr %x55
  store double %v2253, ptr %x56
  store i64 %v2254, ptr %x57
  br label %after2202
after2202:
  %v2255 = load ptr, ptr %x51
  %v2256 = load ptr, ptr %x52
  %v2257 = load ptr, ptr %x53
  %v2258 = load ptr, ptr %x54
  %v2259 = load ptr, ptr %x55
  %v2260 = load i64, ptr %x57
  %v2261 = load double, ptr %x56
  store ptr %v2255, ptr %x32
  store ptr %v2256, ptr %x33
  store ptr %v2257, ptr %x34
  store ptr %v2258, ptr %x35
  store ptr %v2259, ptr %x36
  store i64 %v2260, ptr %x37
  store double %v2261, ptr %x38
  br label %next2194
next2194:
  %v2262 = load i64, ptr %x40
  %v2263 = add i64 %v2262, 1
  store i64 %v2263, ptr %x40
  br label %head2192
after2195:
  %v2264 = load i64, ptr %x37
  %v2265 = icmp sgt i64 %v2264, 0
  br i1 %v2265, label %then2266, label %else2267
then2266:
  %v2269 = load ptr, ptr %x32
  %v2270 = load ptr, ptr %x33
  %v2271 = load ptr, ptr %x34
  %v2272 = load ptr, ptr %x35
  %v2273 = load ptr, ptr %x36
  %v2274 = load i64, ptr %x37
  %v2275 = call {i32, double} @gendsl_slopes_eliminated(ptr %ctx, ptr %v2269, ptr %v2270, ptr %v2271, ptr %v2272, ptr %v2273, i64 %v2274)
  %v2276 = extractvalue {i32, double} %v2275, 0
  %v2278 = icmp ne i32 %v2276, 0
  br i1 %v2278, label %leave, label %ok2277, !prof !20
ok2277:
  %v2279 = extractvalue {i32, double} %v2275, 1
  store double %v2279, ptr %x58
  %v2280 = load double, ptr %x38
  %v2281 = load double, ptr %x58
  %v2282 = fadd double %v2280, %v2281
  store double %v2282, ptr %x59
  br label %after2268
else2267:
  %v2283 = load double, ptr %x38
  store double %v2283, ptr %x59
  br label %after2268
after2268:
  %v2284 = load double, ptr %x59
  %v2285 = insertvalue {i32, double} zeroinitializer, double %v2284, 1
  ret {i32, double} %v2285
failed:
  %v2286 = phi i64 [17, %entry], [18, %after1996], [19, %after2025], [20, %then2086], [21, %after2052], [22, %after2161]
  %v2287 = getelementptr i64, ptr %ctx, i64 2
  store i64 %v2286, ptr %v2287, !tbaa !1
  br label %leave
leave:
  %v2288 = phi i32 [2, %ok1979], [2, %ok2018], [2, %ok2035], [2, %ok2154], [2, %ok2172], [%v2212, %then2205], [%v2234, %after2207], [%v2276, %then2266], [1, %failed]
  %v2289 = insertvalue {i32, double} zeroinitializer, i32 %v2288, 0
  ret {i32, double} %v2289
}

define {i32, ptr} @gendsl_slopes_sizes(ptr align 8 dereferenceable(544) %ctx, ptr %p0, ptr %p1, ptr %p2) noinline {
entry:
  %x0 = alloca ptr
  store ptr zeroinitializer, ptr %x0
  %x1 = alloca ptr
  store ptr zeroinitializer, ptr %x1
  %x2 = alloca ptr
  store ptr zeroinitializer, ptr %x2
  %x3 = alloca ptr
  store ptr zeroinitializer, ptr %x3
  %x4 = alloca i64
  store i64 zeroinitializer, ptr %x4
  %x5 = alloca i64
  store i64 zeroinitializer, ptr %x5
  %x6 = alloca i64
  store i64 zeroinitializer, ptr %x6
  %x7 = alloca ptr
  store ptr zeroinitializer, ptr %x7
  %x8 = alloca i64
  store i64 zeroinitializer, ptr %x8
  %x9 = alloca double
  store double zeroinitializer, ptr %x9
  %x10 = alloca i64
  store i64 zeroinitializer, ptr %x10
  %x11 = alloca i64
  store i64 zeroinitializer, ptr %x11
  %x12 = alloca i64
  store i64 zeroinitializer, ptr %x12
  %x13 = alloca double
  store double zeroinitializer, ptr %x13
  %x14 = alloca i64
  store i64 zeroinitializer, ptr %x14
  %x15 = alloca i1
  store i1 zeroinitializer, ptr %x15
  %x16 = alloca double
  store double zeroinitializer, ptr %x16
  %x17 = alloca double
  store double zeroinitializer, ptr %x17
  store ptr %p0, ptr %x0
  store ptr %p1, ptr %x1
  store ptr %p2, ptr %x2
  %v2290 = call ptr @gendsl_new_list(ptr %ctx, i64 0, i64 4, i64 1)
  %v2291 = icmp eq ptr %v2290, null
  br i1 %v2291, label %leave, label %ok2292, !prof !20
ok2292:
  store ptr %v2290, ptr %x3
  %v2293 = getelementptr i64, ptr %v2290, i64 3
  %v2294 = load ptr, ptr %x0
  %v2295 = load i64, ptr %v2294, !tbaa !2
  store i64 %v2295, ptr %x4
  %v2296 = load i64, ptr %x4
  store i64 0, ptr %x6
  br label %head2297
head2297:
  %v2301 = load i64, ptr %x6
  store i64 %v2301, ptr %x5
  %v2302 = icmp slt i64 %v2301, %v2296
  br i1 %v2302, label %loop2298, label %after2300
loop2298:
  %v2303 = load ptr, ptr %x0
  %v2304 = load i64, ptr %v2303, !tbaa !2
  %v2305 = load i64, ptr %x5
  %v2306 = getelementptr i64, ptr %v2303, i64 2
  %v2307 = load ptr, ptr %v2306, !tbaa !2
  %v2308 = getelementptr i64, ptr %v2307, i64 %v2305
  %v2309 = load ptr, ptr %v2308, !tbaa !5
  store ptr %v2309, ptr %x7
  %v2310 = load ptr, ptr %x7
  %v2311 = load i64, ptr %v2310, !tbaa !2
  store i64 %v2311, ptr %x8
  store double 0x0000000000000000, ptr %x9
  %v2312 = load i64, ptr %x8
  store i64 0, ptr %x11
  br label %head2313
head2313:
  %v2317 = load i64, ptr %x11
  store i64 %v2317, ptr %x10
  %v2318 = icmp slt i64 %v2317, %v2312
  br i1 %v2318, label %loop2314, label %after2316
loop2314:
  %v2319 = load ptr, ptr %x7
  %v2320 = load i64, ptr %v2319, !tbaa !2
  %v2321 = load i64, ptr %x10
  %v2322 = getelementptr i64, ptr %v2319, i64 2
  %v2323 = load ptr, ptr %v2322, !tbaa !2
  %v2324 = mul i64 %v2321, 2
  %v2325 = getelementptr i64, ptr %v2323, i64 %v2324
  %v2326 = load i64, ptr %v2325, !tbaa !4
  %v2327 = getelementptr i64, ptr %v2325, i64 1
  %v2328 = load double, ptr %v2327, !tbaa !3
  store i64 %v2326, ptr %x12
  store double %v2328, ptr %x13
  %v2329 = load i64, ptr %x12
  %v2330 = icmp sge i64 %v2329, 0
  br i1 %v2330, label %then2331, label %else2332
then2331:
  %v2334 = load ptr, ptr %x1
  %v2335 = load i64, ptr %v2334, !tbaa !2
  %v2336 = load i64, ptr %x12
  %v2337 = getelementptr i64, ptr %v2334, i64 2
  %v2338 = load ptr, ptr %v2337, !tbaa !2
  %v2339 = getelementptr i64, ptr %v2338, i64 %v2336
  %v2340 = load i64, ptr %v2339, !tbaa !4
  store i64 %v2340, ptr %x14
  %v2341 = load i64, ptr %x14
  %v2342 = icmp sge i64 %v2341, 0
  store i1 %v2342, ptr %x15
  br label %after2333
else2332:
  store i1 false, ptr %x15
  br label %after2333
after2333:
  %v2343 = load i1, ptr %x15
  br i1 %v2343, label %then2344, label %else2345
then2344:
  %v2347 = load ptr, ptr %x2
  %v2348 = load i64, ptr %v2347, !tbaa !2
  %v2349 = load i64, ptr %x12
  %v2350 = getelementptr i64, ptr %v2347, i64 2
  %v2351 = load ptr, ptr %v2350, !tbaa !2
  %v2352 = getelementptr i64, ptr %v2351, i64 %v2349
  %v2353 = load double, ptr %v2352, !tbaa !3
  store double %v2353, ptr %x16
  %v2354 = load double, ptr %x9
  %v2355 = load double, ptr %x13
  %v2356 = load double, ptr %x16
  %v2357 = fmul double %v2355, %v2356
  %v2358 = call double @llvm.fabs.f64(double %v2357)
  %v2359 = fadd double %v2354, %v2358
  store double %v2359, ptr %x17
  br label %after2346
else2345:
  %v2360 = load double, ptr %x9
  store double %v2360, ptr %x17
  br label %after2346
after2346:
  %v2361 = load double, ptr %x17
  store double %v2361, ptr %x9
  br label %next2315
next2315:
  %v2362 = load i64, ptr %x11
  %v2363 = add i64 %v2362, 1
  store i64 %v2363, ptr %x11
  br label %head2313
after2316:
  %v2364 = load ptr, ptr %x3
  %v2365 = load double, ptr %x9
  %v2366 = load i64, ptr %v2364, !tbaa !2
  %v2367 = getelementptr i64, ptr %v2364, i64 1
  %v2368 = load i64, ptr %v2367, !tbaa !2
  %v2371 = icmp slt i64 %v2366, %v2368
  br i1 %v2371, label %ready2370, label %grow2369
grow2369:
  %v2372 = call ptr @gendsl_grown(ptr %ctx, ptr %v2364, i64 4, i64 1)
  %v2373 = icmp eq ptr %v2372, null
  br i1 %v2373, label %leave, label %ready2370, !prof !20
ready2370:
  %v2374 = getelementptr i64, ptr %v2364, i64 2
  %v2375 = load ptr, ptr %v2374, !tbaa !2
  %v2376 = mul i64 %v2366, 1
  %v2377 = getelementptr i64, ptr %v2375, i64 %v2376
  store double %v2365, ptr %v2377, !tbaa !3
  %v2378 = add i64 %v2366, 1
  store i64 %v2378, ptr %v2364, !tbaa !2
  br label %next2299
next2299:
  %v2379 = load i64, ptr %x6
  %v2380 = add i64 %v2379, 1
  store i64 %v2380, ptr %x6
  br label %head2297
after2300:
  %v2381 = load ptr, ptr %x3
  %v2382 = insertvalue {i32, ptr} zeroinitializer, ptr %v2381, 1
  ret {i32, ptr} %v2382
leave:
  %v2383 = phi i32 [2, %entry], [2, %grow2369]
  %v2384 = insertvalue {i32, ptr} zeroinitializer, i32 %v2383, 0
  ret {i32, ptr} %v2384
}

define {i32, i1} @gendsl_slopes_finite(ptr align 8 dereferenceable(544) %ctx, ptr %p0) noinline {
entry:
  %x0 = alloca ptr
  store ptr zeroinitializer, ptr %x0
  %x1 = alloca i1
  store i1 zeroinitializer, ptr %x1
  %x2 = alloca i64
  store i64 zeroinitializer, ptr %x2
  %x3 = alloca i64
  store i64 zeroinitializer, ptr %x3
  %x4 = alloca i64
  store i64 zeroinitializer, ptr %x4
  %x5 = alloca i64
  store i64 zeroinitializer, ptr %x5
  %x6 = alloca double
  store double zeroinitializer, ptr %x6
  store ptr %p0, ptr %x0
  store i1 true, ptr %x1
  %v2385 = load ptr, ptr %x0
  %v2386 = load i64, ptr %v2385, !tbaa !2
  store i64 %v2386, ptr %x2
  %v2387 = load i64, ptr %x2
  store i64 0, ptr %x4
  br label %head2388
head2388:
  %v2392 = load i64, ptr %x4
  store i64 %v2392, ptr %x3
  %v2393 = icmp slt i64 %v2392, %v2387
  br i1 %v2393, label %loop2389, label %after2391
loop2389:
  %v2394 = load ptr, ptr %x0
  %v2395 = load i64, ptr %v2394, !tbaa !2
  %v2396 = load i64, ptr %x3
  %v2397 = getelementptr i64, ptr %v2394, i64 2
  %v2398 = load ptr, ptr %v2397, !tbaa !2
  %v2399 = mul i64 %v2396, 2
  %v2400 = getelementptr i64, ptr %v2398, i64 %v2399
  %v2401 = load i64, ptr %v2400, !tbaa !4
  %v2402 = getelementptr i64, ptr %v2400, i64 1
  %v2403 = load double, ptr %v2402, !tbaa !3
  store i64 %v2401, ptr %x5
  store double %v2403, ptr %x6
  %v2404 = load i1, ptr %x1
  br i1 %v2404, label %then2405, label %else2406
then2405:
  %v2408 = load double, ptr %x6
  %v2409 = call double @llvm.fabs.f64(double %v2408)
  %v2410 = fcmp olt double %v2409, 0x7FF0000000000000
  store i1 %v2410, ptr %x1
  br label %after2407
else2406:
  br label %after2407
after2407:
  br label %next2390
next2390:
  %v2411 = load i64, ptr %x4
  %v2412 = add i64 %v2411, 1
  store i64 %v2412, ptr %x4
  br label %head2388
after2391:
  %v2413 = load i1, ptr %x1
  %v2414 = insertvalue {i32, i1} zeroinitializer, i1 %v2413, 1
  ret {i32, i1} %v2414
}


!0 = !{!"gendsl"}
!10 = !{!"context", !0}
!11 = !{!"header", !0}
!12 = !{!"float", !0}
!13 = !{!"integer", !0}
!14 = !{!"reference", !0}
!15 = !{!"stamp", !0}
!16 = !{!"state", !0}
!17 = !{!"log", !0}
!18 = !{!"observed", !0}
!22 = !{!"template", !0}
!1 = !{!10, !10, i64 0}
!2 = !{!11, !11, i64 0}
!3 = !{!12, !12, i64 0}
!4 = !{!13, !13, i64 0}
!5 = !{!14, !14, i64 0}
!6 = !{!15, !15, i64 0}
!7 = !{!16, !16, i64 0}
!8 = !{!17, !17, i64 0}
!9 = !{!18, !18, i64 0}
!23 = !{!22, !22, i64 0}

!20 = !{!"branch_weights", i32 1, i32 100000}
!21 = !{!"branch_weights", i32 1000, i32 1}
